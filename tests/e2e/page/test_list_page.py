"""The classic results page: short queries, whole categories, filters, sort, pages; and the product view."""

from __future__ import annotations

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedStore
from tests.e2e.page.wire import Q, begin, category, hits, receipt, whole_answer

LIST = "?q=tent&view=list"


def test_a_bypassed_short_query_is_a_classic_results_page(browser: Browser, store: ScriptedStore) -> None:
    """A grid with count, sort and filters; no summary, no shelves. Source: storefront page."""
    browser.open(f"{store.url}/?q=linen+throw")
    run = store.next_run()
    run.send("init", {"categories": False, "summary": False})
    run.delta(
        hits=hits(store, 0, 24),
        totalHits=40,
        facets={"color": {"rust": {"count": 4}, "teal": {"count": 2}}},
    )
    run.delta(receipt=receipt(source="short_query_bypass"))
    run.end()
    browser.wait("document.querySelectorAll('.grid .card-link').length === 24")
    assert browser.text(".status") == "40 products"
    assert browser.texts(".shelf") == browser.texts(".summary") == browser.texts(".chips") == []
    assert "Price, low to high" in browser.js("document.querySelector('select').innerText")
    browser.wait("document.querySelector('.facet')")
    assert browser.texts(".facet") == ["rust\n4", "teal\n2"]
    assert store.searches == []


def test_more_results_are_one_press_away_and_keep_the_place(browser: Browser, store: ScriptedStore) -> None:
    """The next page follows below, and the focus goes to its first product."""
    browser.open(f"{store.url}/{LIST}")
    browser.wait("document.querySelectorAll('.card-link').length === 24")
    browser.click(".load-more")
    browser.wait("document.querySelectorAll('.card-link').length === 40")
    assert [(search["offset"], search["limit"]) for search in store.searches] == [(0, 24), (24, 24)]
    focused = browser.js("document.activeElement.closest('.card').dataset.id")
    assert focused == store.products[24]["_id"]
    assert browser.texts(".load-more") == []


def test_whoever_found_nothing_gets_a_next_step(browser: Browser, store: ScriptedStore) -> None:
    """Choices that leave nothing can be left out with one press, or the chat can be asked."""
    browser.open(f"{store.url}/?q=tent+pegs&f=color:pink")
    run = store.next_run()
    run.send("init", {"categories": False, "summary": False})
    run.delta(hits=[], totalHits=0, facets={})
    run.delta(receipt=receipt(source="short_query_bypass"))
    run.end()
    browser.wait("document.querySelector('.offers')")
    assert browser.text(".status") == "Nothing in the shop fits “tent pegs” with these choices."
    assert browser.texts(".offers button") == ["Search without these choices", "Ask in the chat"]
    browser.click(".offers button")
    assert "filter" not in store.next_run().parameters
    browser.back()
    browser.click(".offers button:last-child")
    browser.wait("document.querySelector('.composer textarea').value === 'tent pegs'")


def test_a_page_of_results_that_does_not_come_leaves_those_that_are_there(
    browser: Browser, store: ScriptedStore
) -> None:
    """The line and its one button stand where the next products would."""
    browser.open(f"{store.url}/{LIST}")
    browser.wait("document.querySelectorAll('.card-link').length === 24")
    browser.go_offline(offline=True)
    browser.click(".load-more")
    browser.wait("document.querySelector('.grid + .error:not([hidden]) button')")
    assert browser.text(".status") == "40 products"
    assert browser.texts(".load-more") == []
    browser.go_offline(offline=False)
    browser.click(".error button")
    browser.wait("document.querySelectorAll('.card-link').length === 40")
    assert browser.texts(".error") == []


def test_a_product_says_by_what_it_was_found_where_the_shop_says_it(
    browser: Browser, store: ScriptedStore
) -> None:
    """The reason is a line of text; it is no property of the product. Source: docs/strategies.md."""
    browser.open(f"{store.url}/{Q}")
    run = store.next_run()
    run.send("init", {"categories": True, "summary": False})
    reason = "“warm” in description"
    run.delta(hits=[{**store.products[0], "_reason": reason, "_excerpt": "Warm."}], totalHits=1)
    browser.click(".best .card-link")
    browser.wait("document.querySelector('.product-description')")
    assert f"Found by: {reason}" in browser.text("dialog.sheet")
    assert (
        browser.texts("dialog.sheet dt").count("Excerpt")
        == browser.texts("dialog.sheet dt").count("Reason")
        == 0
    )


def test_a_facet_narrows_by_the_address_and_counts_as_if_it_were_not_chosen(
    browser: Browser, store: ScriptedStore
) -> None:
    """A choice is a filter in the address; its own field's counts leave it out. Source: search API."""
    browser.open(f"{store.url}/{LIST}")
    browser.wait("document.querySelectorAll('.card-link').length === 24")
    browser.wait("document.querySelector('.facet input')")
    browser.js("document.querySelector('.facet input').click()")
    browser.wait(
        "location.search.includes('f=color%3Arust') && document.querySelector('.facet input:checked')"
    )
    search = store.newest_search(lambda search: "filter" in search)
    assert search["filter"] == "(color:(rust))"
    assert search["facets"]["fields"]["color"]["excludeTerms"] == ["color:(rust)"]
    browser.reload()
    browser.wait("document.querySelector('.facet input:checked')")
    browser.click(".facets .link")
    browser.wait("!location.search.includes('f=') && !document.querySelector('.facet input:checked')")
    store.newest_search(lambda search: "filter" not in search)


def test_a_price_range_is_a_filter(browser: Browser, store: ScriptedStore) -> None:
    """Lowest and highest price go into the search and the address."""
    browser.open(f"{store.url}/{Q}")
    begin(store.next_run(), store)
    browser.wait("document.querySelector('.price-range')")
    browser.fill("[aria-label='Lowest price']", "20")
    browser.fill("[aria-label='Highest price']", "80")
    browser.press("Enter")
    browser.wait("location.search.includes('min=20') && document.querySelector('.lede-list')")
    browser.wait("document.querySelectorAll('.card-link').length === 24")
    store.newest_search(lambda search: search.get("filter") == "price:[20 TO 80]")


def test_sorting_asks_the_shop_to_sort(browser: Browser, store: ScriptedStore) -> None:
    """The order is the server's, over everything, and stands in the address."""
    browser.open(f"{store.url}/{LIST}")
    browser.wait("document.querySelectorAll('select option').length === 5")
    browser.js(
        "(() => { const s = document.querySelector('select'); s.value = 'price:asc';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    browser.wait("location.search.includes('sort=price%3Aasc') && document.querySelector('.card-link')")
    search = store.newest_search(lambda search: "sortBy" in search)
    assert search["sortBy"] == {"fields": [{"fieldName": "price", "order": "asc"}]}


def test_a_category_leads_to_its_full_list_with_its_own_filter(
    browser: Browser, store: ScriptedStore
) -> None:
    """The label is a link; the list is searched as the shelf was."""
    browser.open(f"{store.url}/{Q}")
    run = store.next_run()
    begin(run, store)
    run.delta(categoryHits=[category(store, "Warm boots", appliedFilter="category:(Hiking Boots)")])
    browser.click(".shelf h2 a")
    browser.wait("document.querySelectorAll('.grid .card-link').length === 24")
    assert browser.text("h1.query") == "Warm boots"
    search = store.searches[-1]
    assert (search["q"], search["filter"]) == ("warm boots", "(category:(Hiking Boots))")


def test_a_product_opens_over_the_results_and_closes_back_to_them(
    browser: Browser, store: ScriptedStore
) -> None:
    """The product has an address of its own; Escape leaves it; the results are still there."""
    browser.open(f"{store.url}/{Q}")
    whole_answer(store.next_run(), store)
    browser.wait("document.querySelector('.foot .link')")
    browser.click(".best .card-link")
    product = store.products[0]
    browser.wait("document.querySelector('.product-description')")
    assert browser.text("#product-title") == product["productTitle"]
    assert product["description"] in browser.text("dialog.sheet")
    assert browser.js("new URLSearchParams(location.search).get('product')") == product["_id"]
    browser.press("Escape")
    browser.wait("!document.querySelector('dialog') && !location.search.includes('product=')")
    assert len(browser.texts(".shelf")) == 3
    assert store.runs_started == 1


def test_a_product_can_be_reached_and_left_by_keyboard_alone(browser: Browser, store: ScriptedStore) -> None:
    """Type, Enter, Tab to a card, Enter, Escape; the focus is back on the card."""
    browser.open(store.url)
    browser.wait("document.activeElement.id === 'q'")
    for key in "tents for two people":
        browser.press("Space" if key == " " else key)
    browser.press("Enter")
    run = store.next_run()
    assert run.parameters["q"] == "tents for two people"
    whole_answer(run, store)
    browser.wait("document.querySelector('.foot .link')")
    for _ in range(60):
        browser.press("Tab")
        if browser.js("document.activeElement.matches('.card-link')"):
            break
    card = browser.js("document.activeElement.closest('.card').dataset.id")
    browser.press("Enter")
    browser.wait("document.querySelector('dialog.sheet[open]')")
    browser.press("Escape")
    browser.wait("!document.querySelector('dialog')")
    assert browser.js("document.activeElement.closest('.card')?.dataset.id") == card
