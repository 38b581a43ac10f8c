"""The answer, drawn as its stream arrives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageColor

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedRun, ScriptedStore
from tests.e2e.page.wire import Q, begin, category, receipt, whole_answer

SHELVES = ".shelf:not(.shelf-empty) h2"


def _open(browser: Browser, store: ScriptedStore, path: str = Q, **options: object) -> ScriptedRun:
    browser.open(f"{store.url}/{path}", **options)
    return store.next_run()


def test_first_hits_stand_on_the_page_while_nothing_else_has_come(
    browser: Browser, store: ScriptedStore
) -> None:
    """Products are there at once; the places of the categories are kept. Source: storefront page."""
    run = _open(browser, store)
    begin(run, store)
    browser.wait("document.querySelector('.best .card-link')")
    titles = browser.js(
        "[...document.querySelectorAll('.best .card-link .card-title')].map((e) => e.textContent)"
    )
    assert titles[0].replace("\u00a0", " ") == store.products[0]["productTitle"]
    browser.wait("document.querySelectorAll('.shelf-empty').length === 5")
    assert browser.js("document.querySelector('.summary').getAttribute('aria-busy')") == "true"


def test_categories_fill_their_places_in_order_of_arrival(browser: Browser, store: ScriptedStore) -> None:
    """One is drawn before the next has been sent."""
    run = _open(browser, store)
    begin(run, store)
    run.delta(categoryHits=[category(store, "Puffer jackets")])
    browser.wait("document.querySelectorAll('.shelf:not(.shelf-empty)').length === 1")
    run.delta(categoryHits=[category(store, "Sleeping bags", 8)])
    browser.wait("document.querySelectorAll('.shelf:not(.shelf-empty)').length === 2")
    assert browser.texts(SHELVES) == ["Puffer jackets", "Sleeping bags"]
    assert browser.js("document.querySelectorAll('.shelf-empty').length") == 3


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_jumps_while_an_answer_arrives(browser: Browser, store: ScriptedStore, width: int) -> None:
    """The whole stream shifts the layout by less than 0.05, at every width, and scrolls sideways at none."""
    run = _open(browser, store, width=width, height=720)
    painted = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    browser.js(painted)
    begin(run, store)
    browser.wait("document.querySelector('.best .card-link')")
    for start, name in enumerate(("Sleeping bags", "Puffer jackets", "Winter boots")):
        browser.js(painted)
        run.delta(categoryHits=[category(store, name, start)])
        browser.wait(f"document.querySelectorAll('.shelf:not(.shelf-empty)').length === {start + 1}")
    for words in range(1, 9):
        browser.js(painted)
        run.delta(summary="Ten words of a summary that grows and grows on. ")
        browser.wait(f"document.querySelector('.summary').textContent.length >= {words * 40}")
    run.delta(queryComplements=["down sleeping bags", "thermos flasks"])
    browser.js(painted)
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    browser.js(painted)
    assert browser.js("window.__shift") < 0.05
    assert browser.js("document.documentElement.scrollWidth") <= width


def test_an_answer_that_comes_at_once_shows_its_products_first(
    browser: Browser, store: ScriptedStore
) -> None:
    """There is a frame with the products and without a category: nobody waits for what is below them."""
    look = (
        "[!!document.querySelector('.best .card-link'), !!document.querySelector('.shelf:not(.shelf-empty)')]"
    )
    watch = (
        f"window.__frames = []; (function next() {{ __frames.push({look}); requestAnimationFrame(next); }})()"
    )
    browser.open(f"{store.url}/{Q}", init=watch)
    rows = [category(store, name) for name in ("Sleeping bags", "Puffer jackets", "Winter boots")]
    store.next_run().send_together(
        ("init", {"categories": True, "summary": True}),
        ("delta", {"hits": store.products[:12], "totalHits": 40, "facets": {}}),
        *(("delta", {"categoryHits": [row]}) for row in rows),
        ("delta", {"receipt": receipt()}),
        ("stream-end", {}),
    )
    browser.wait("document.querySelector('.foot .link')")
    assert len(browser.texts(".shelf")) == 3
    assert [True, False] in browser.js("__frames")


def test_a_product_link_of_the_summary_lights_up_its_card(browser: Browser, store: ScriptedStore) -> None:
    """The card is scrolled to, focused and marked."""
    run = _open(browser, store, height=600)
    whole_answer(run, store)
    browser.wait("document.querySelector('.foot .link')")
    target = store.products[3]["_id"]
    assert browser.text(".summary") == "Start with the bag and perhaps warm socks."
    browser.click(".summary .product-link")
    browser.wait("document.querySelector('.card-lit')")
    assert browser.js("document.querySelector('.card-lit').dataset.id") == target
    assert browser.js("document.activeElement.closest('.card').dataset.id") == target


def test_a_link_cut_anywhere_is_never_shown_half(browser: Browser, store: ScriptedStore) -> None:
    """Character by character, no bracket of a link is ever visible; what is no link stays text."""
    run = _open(browser, store)
    begin(run, store)
    text = "See [the bag](<p:x-1>), [a] and [b](c) or [more](<q:warm socks>) <b>now</b>."
    for character in text:
        run.delta(summary=character)
        assert "](<" not in browser.js("document.querySelector('.summary').textContent")
    run.end()
    browser.wait("document.querySelector('.summary').getAttribute('aria-busy') === 'false'")
    assert browser.text(".summary") == "See the bag, [a] and [b](c) or more <b>now</b>."
    assert browser.js("[...document.querySelectorAll('.summary a')].map((a) => a.dataset.target)") == [
        "x-1",
        "warm socks",
    ]


def test_a_follow_up_link_and_a_chip_search_and_back_needs_no_second_answer(
    browser: Browser, store: ScriptedStore
) -> None:
    """The address holds the query; going back shows the kept answer without asking a model again."""
    run = _open(browser, store)
    whole_answer(run, store)
    browser.wait("document.querySelector('.foot .link')")
    assert browser.texts(".chips .chip") == ["down sleeping bags", "thermos flasks"]
    browser.click(".summary .query-link")
    second = store.next_run()
    assert second.parameters["q"] == "merino hiking socks"
    whole_answer(second, store)
    browser.wait("location.search === '?q=merino+hiking+socks' && document.querySelector('.foot .link')")
    browser.back()
    browser.wait("document.querySelector('h1.query').textContent.startsWith('something warm')")
    assert browser.texts(SHELVES) == ["Sleeping bags", "Puffer jackets", "Winter boots"]
    assert browser.js("document.getElementById('q').value") == "something warm for a winter camping trip"
    assert store.runs_started == 2


def test_a_category_that_failed_says_so_beside_its_siblings(browser: Browser, store: ScriptedStore) -> None:
    """An error of one shelf is that shelf's."""
    run = _open(browser, store)
    begin(run, store)
    broken: dict[str, Any] = {
        "code": "search_failed",
        "message": "no",
        "stage": "category",
        "retryable": True,
    }
    run.delta(categoryHits=[category(store, "Rugs", error=broken, hits=[], totalHits=0)])
    run.delta(categoryHits=[category(store, "Boots")])
    browser.wait("document.querySelectorAll('.shelf:not(.shelf-empty)').length === 2")
    assert browser.texts(".shelf-note") == ["This shelf could not be searched just now."]


@pytest.mark.parametrize("strategy", ["needs_clarification", "no_match"])
def test_a_question_or_a_greeting_is_talk_and_never_no_results(
    browser: Browser, store: ScriptedStore, strategy: str
) -> None:
    """Words with options to press, and a reply; no grid, no empty shelf, no count. Source: wire format."""
    run = _open(browser, store, "?q=hello+there+my+friend")
    run.send("init", {"categories": False, "summary": True})
    run.delta(summary="Hello! Who is it for, and how cold will it be?")
    run.delta(queryComplements=["tents", "sleeping bags"])
    run.delta(receipt=receipt(strategy=strategy))
    run.end()
    browser.wait("document.querySelector('.follow-up')")
    assert browser.texts(".chips .chip") == ["tents", "sleeping bags"]
    assert browser.text(".summary-talk").startswith("Hello!")
    assert browser.texts(".status") == [""]
    assert browser.texts(".card") == []
    assert browser.texts(".shelf") == []
    assert "0 " not in browser.js("document.querySelector('main').innerText")


def test_what_was_understood_as_a_filter_can_be_taken_off(browser: Browser, store: ScriptedStore) -> None:
    """Each demand is a chip; without it, the words are searched with what is left. Source: wire format."""
    run = _open(browser, store, "?q=red+mug+under+20+euros&f=brand:Saltern")
    run.send("init", {"categories": True, "summary": False})
    applied = "((brand:(Saltern)) AND (colorFamily:(red))) AND (price:[* TO 20])"
    run.delta(hits=[{**store.products[0], "currency": "EUR"}], totalHits=1, appliedFilter=applied)
    browser.wait("document.querySelectorAll('.wish').length === 2")
    assert browser.texts(".wish") == ["red×", "up to €20×"]
    browser.click(".wish")
    browser.wait("document.querySelectorAll('.grid .card-link').length === 24")
    search = store.searches[-1]
    assert (search["q"], search["filter"]) == (
        "red mug under 20 euros",
        "((price:[* TO 20])) AND (brand:(Saltern))",
    )


def test_a_demand_that_found_nothing_is_said_to_be_left_out(browser: Browser, store: ScriptedStore) -> None:
    """The shopper sees why there are products that were not asked for."""
    run = _open(browser, store)
    run.send("init", {"categories": True, "summary": False})
    found = {"hits": [store.products[0]], "totalHits": 9, "appliedFilter": None}
    run.delta(**found, filterDropped=True, originalFilter="price:[* TO 2]")
    browser.wait("document.querySelector('.wish-dropped')")
    assert browser.text(".wish-dropped").startswith("Nothing fits up to")


def test_nothing_found_is_said_in_words(browser: Browser, store: ScriptedStore) -> None:
    """An empty answer without a message says what was looked for."""
    run = _open(browser, store)
    run.send("init", {"categories": True, "summary": True})
    run.delta(hits=[], totalHits=0, facets={})
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.status').textContent.startsWith('Nothing in the shop fits')")


def test_an_error_in_the_stream_has_one_button_that_asks_again(
    browser: Browser, store: ScriptedStore
) -> None:
    """What had arrived stays; the line is honest."""
    run = _open(browser, store)
    begin(run, store)
    error = {"code": "upstream_failed", "message": "the model could not answer", "stage": "plan"}
    run.delta(error={**error, "retryable": True})
    run.delta(receipt=receipt(source="catalog"))
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    assert browser.texts(".error p") == ["The model could not answer."]
    assert len(browser.texts(".best .card")) >= 4
    browser.click(".error button")
    again = store.next_run()
    whole_answer(again, store)
    browser.wait("document.querySelector('.foot .link') && !document.querySelector('.error p')")


def test_a_refusal_before_the_stream_is_shown_with_its_reason(browser: Browser, store: ScriptedStore) -> None:
    """A 429 tells the visitor what the server told us."""
    store.refusal = (429, {"message": "too many questions; wait a moment", "code": "rate", "type": "t"})
    browser.open(f"{store.url}/{Q}")
    browser.wait("document.querySelector('.error button')")
    assert browser.texts(".error p") == ["Too many questions; wait a moment."]


def test_the_receipt_tells_source_stages_filters_and_tokens(browser: Browser, store: ScriptedStore) -> None:
    """The drawer opens by a button and closes by Escape."""
    run = _open(browser, store)
    begin(run, store)
    dropped: dict[str, Any] = {
        "appliedFilter": "inStock:(true)",
        "filterDropped": True,
        "originalFilter": "color:(red)",
    }
    run.delta(categoryHits=[category(store, "Boots", **dropped)])
    run.delta(receipt=receipt(warnings=["degraded: slow model"]))
    run.end()
    browser.click(".foot .link")
    shown = browser.text("dialog.drawer")
    for said in ("A model planned", "p3", "900 input", "402 ms", "dropped: color:(red)", "slow model"):
        assert said in shown
    assert browser.js("document.querySelectorAll('dialog.drawer meter').length") == 3
    browser.press("Escape")
    browser.wait("!document.querySelector('dialog')")


def test_the_bars_of_the_receipt_are_filled_from_edge_to_edge(
    browser: Browser, store: ScriptedStore, tmp_path: Path
) -> None:
    """The longest stage's bar has its colour at the top and at the bottom alike."""
    run = _open(browser, store)
    begin(run, store)
    run.delta(receipt=receipt())
    run.end()
    browser.click(".foot .link")
    browser.wait("document.querySelector('dialog.drawer meter')")
    bar = browser.js(
        "(() => { const bars = [...document.querySelectorAll('dialog.drawer meter')];"
        " const longest = bars.find((bar) => bar.value === bar.max);"
        " longest.scrollIntoView({ block: 'center' }); const box = longest.getBoundingClientRect();"
        " return { x: box.left + box.width / 2, top: box.top, bottom: box.bottom,"
        " scale: devicePixelRatio }; })()"
    )
    picture = tmp_path / "receipt.png"
    browser.screenshot(picture)
    with Image.open(picture) as image:
        pixels = image.convert("RGB")
    heights = (bar["top"] + 2, (bar["top"] + bar["bottom"]) / 2, bar["bottom"] - 2)
    filled = {pixels.getpixel((int(bar["x"] * bar["scale"]), int(y * bar["scale"]))) for y in heights}
    accent = browser.js("getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()")
    assert filled == {ImageColor.getrgb(accent)}


def test_a_cut_stream_goes_on_where_it_was(browser: Browser, store: ScriptedStore) -> None:
    """The page resumes the same run; nothing is drawn twice and no second answer is asked for."""
    run = _open(browser, store)
    begin(run, store)
    run.delta(summary="One, ")
    browser.wait("document.querySelector('.summary').textContent === 'One, '")
    run.cut()
    run.delta(summary="two, ")
    run.delta(categoryHits=[category(store, "Boots")])
    browser.wait("document.querySelector('.summary').textContent === 'One, two, '")
    run.cut()
    run.delta(summary="three.")
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    assert browser.text(".summary") == "One, two, three."
    assert browser.texts(SHELVES) == ["Boots"]
    assert (store.runs_started, run.readers) == (1, 3)


def test_a_run_that_is_gone_ends_with_a_line_and_a_button(browser: Browser, store: ScriptedStore) -> None:
    """A 204 on resuming is not asked again by itself; the visitor decides."""
    run = _open(browser, store)
    begin(run, store)
    browser.wait("document.querySelector('.best .card-link')")
    store.forgets_runs = True
    run.cut()
    browser.wait("document.querySelector('.error button')")
    assert "no longer there" in browser.text(".error p")
    assert store.runs_started == 1


def test_a_page_that_slept_goes_on_with_what_it_missed(browser: Browser, store: ScriptedStore) -> None:
    """The connection died during the sleep; awake, the page takes the run up after its last event."""
    run = _open(browser, store)
    begin(run, store)
    run.delta(summary="One, ")
    browser.wait("document.querySelector('.summary').textContent === 'One, '")
    browser.sleep(asleep=True)
    run.cut()
    run.delta(summary="two.")
    run.delta(receipt=receipt())
    run.end()
    browser.sleep(asleep=False)
    browser.wait("document.querySelector('.foot .link')")
    assert browser.text(".summary") == "One, two."
    assert store.runs_started == 1


def test_a_page_that_slept_too_long_says_so_and_asks_again_when_told(
    browser: Browser, store: ScriptedStore
) -> None:
    """The run is forgotten meanwhile: one line, one button, and no run started by itself."""
    run = _open(browser, store)
    begin(run, store)
    browser.wait("document.querySelector('.best .card-link')")
    browser.sleep(asleep=True)
    store.forgets_runs = True
    run.cut()
    browser.sleep(asleep=False)
    browser.wait("document.querySelector('.error button')")
    assert "no longer there" in browser.text(".error p")
    assert store.runs_started == 1
    browser.click(".error button")
    again = store.next_run()
    whole_answer(again, store)
    browser.wait("document.querySelector('.foot .link') && !document.querySelector('.error p')")


def test_without_a_network_a_line_and_a_button_say_so(browser: Browser, store: ScriptedStore) -> None:
    """Nothing spins for ever; with the network back the button answers."""
    _open(browser, store)
    browser.wait("document.querySelector('#q')")
    browser.go_offline(offline=True)
    browser.fill("#q", "a warm coat for long winter walks")
    browser.press("Enter")
    browser.wait("document.querySelector('.error button')")
    assert len(browser.texts(".error p")) == 1
    browser.go_offline(offline=False)
    browser.click(".error button")
    again = store.next_run()
    whole_answer(again, store)
    browser.wait("document.querySelector('.foot .link') && !document.querySelector('.error p')")


def test_scores_are_never_shown(browser: Browser, store: ScriptedStore) -> None:
    """Neither a number nor null. Source: storefront page."""
    run = _open(browser, store)
    run.send("init", {"categories": True, "summary": False})
    product = {**store.products[0], "_score": None}
    run.delta(hits=[product, {**store.products[1], "_score": 0.123456}], totalHits=2)
    browser.wait("document.querySelector('.best .card-link')")
    shown = browser.js("document.querySelector('main').innerText")
    assert "null" not in shown
    assert "0.12" not in shown


def test_every_request_goes_to_the_shop_and_nothing_is_an_error(
    browser: Browser, store: ScriptedStore
) -> None:
    """No other host, no policy breach, no failed asset; the page weighs at most 120 KB."""
    run = _open(browser, store)
    whole_answer(run, store)
    browser.wait("document.querySelector('.foot .link')")
    seen = browser.seen()
    assert seen["errors"] == []
    assert [url for url in seen["requests"] if not url.startswith(store.url + "/")] == []
    sizes = browser.js(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
        ".filter((e) => !/[/](images|api)[/]/.test(e.name)).map((e) => e.encodedBodySize)"
    )
    assert sum(sizes) <= 120_000, json.dumps(sizes)
