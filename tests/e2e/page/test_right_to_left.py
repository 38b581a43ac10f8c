"""The page in a script that is written from right to left."""

from __future__ import annotations

import pytest

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedStore
from tests.e2e.page.wire import category, hits, receipt

TURNED = "document.addEventListener('DOMContentLoaded', () => (document.documentElement.dir = 'rtl'))"
BOX = (
    "(e) => { const box = document.querySelector(e).getBoundingClientRect(); return [box.left, box.right]; }"
)


@pytest.mark.parametrize("width", [320, 1280])
def test_everything_stands_mirrored_and_within_the_page(
    browser: Browser, store: ScriptedStore, width: int
) -> None:
    """Headings begin at the right, "see all" stands left, rows start at the right, all of it fits."""
    browser.open(f"{store.url}/?q=خيمة+دافئة+للشتاء", width=width, init=TURNED)
    run = store.next_run()
    run.send("init", {"categories": True, "summary": True})
    found = [{**hit, "productTitle": "كيس نوم شتوي دافئ"} for hit in hits(store, 0, 8)]
    run.delta(hits=found, totalHits=40, facets={}, appliedFilter="color:(أحمر) AND price:[* TO 20]")
    run.delta(categoryHits=[category(store, "أكياس النوم", hits=found)])
    run.delta(summary="ابدأ بكيس النوم الدافئ.")
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    page = browser.js(f"({BOX})('#results')")
    heading, all_of_it = browser.js(f"['.shelf h2', '.shelf .see-all'].map({BOX})")
    assert abs(heading[1] - page[1]) <= 4
    assert abs(all_of_it[0] - page[0]) <= 4
    first, second = browser.js(f"['.shelf .card', '.shelf .card + .card'].map({BOX})")
    assert first[0] > second[1]
    assert abs(first[1] - page[1]) <= 4
    text, cross = browser.js(f"['.wish bdi', '.wish span'].map({BOX})")
    assert cross[1] < text[0]
    assert browser.js("parseFloat(getComputedStyle(document.querySelector('#q')).paddingRight)") >= 8
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
