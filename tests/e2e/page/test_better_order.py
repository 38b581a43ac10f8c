"""A better order for the first hits: taken where nobody reads them yet, left where somebody does."""

from __future__ import annotations

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedRun, ScriptedStore
from tests.e2e.page.wire import Q, begin, category, receipt

SHOWN = "[...document.querySelectorAll('.best .card')].map((card) => card.dataset.id)"


def _begun(browser: Browser, store: ScriptedStore) -> tuple[ScriptedRun, list[str]]:
    browser.open(f"{store.url}/{Q}", height=500)
    run = store.next_run()
    begin(run, store)
    browser.wait("document.querySelector('.best .card-link')")
    return run, browser.js(SHOWN)


def _end(browser: Browser, store: ScriptedStore, run: ScriptedRun) -> None:
    for start, name in enumerate(("Sleeping bags", "Puffer jackets", "Winter boots")):
        run.delta(categoryHits=[category(store, name, start)])
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.foot .link')")


def test_a_better_order_takes_the_place_of_the_first(browser: Browser, store: ScriptedStore) -> None:
    """The products are drawn again in the new order, once. Source: docs/wire-format.md, rerankedHits."""
    run, before = _begun(browser, store)
    better = store.products[: len(before)][::-1]
    run.delta(rerankedHits=better)
    browser.wait(f"{SHOWN}[0] === '{better[0]['_id']}'")
    assert browser.js(SHOWN) == [product["_id"] for product in better]
    _end(browser, store, run)
    assert browser.js(SHOWN) == [product["_id"] for product in better]


def test_products_that_somebody_is_at_stay_where_they_are(browser: Browser, store: ScriptedStore) -> None:
    """A card that moves under a finger or a cursor is a wrong click."""
    run, before = _begun(browser, store)
    browser.js("document.querySelector('.best .card-link').focus()")
    run.delta(rerankedHits=store.products[: len(before)][::-1])
    _end(browser, store, run)
    assert browser.js(SHOWN) == before


def test_products_are_taken_back_at_once_where_the_query_was_no_search(
    browser: Browser, store: ScriptedStore
) -> None:
    """The model's greeting stands alone before the stream has ended. Source: docs/wire-format.md."""
    run, _ = _begun(browser, store)
    run.delta(strategy="no_match", hits=[], totalHits=0)
    browser.wait("document.querySelector('.page-talk')")
    assert browser.js("document.querySelector('.best').hidden")
    run.delta(summary="You are welcome.")
    run.delta(receipt=receipt(strategy="no_match"))
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    assert browser.text(".summary") == "You are welcome."
    assert browser.js("document.querySelector('.best').hidden")
