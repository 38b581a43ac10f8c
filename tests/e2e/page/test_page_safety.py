"""Nothing that a catalog, a model or an address says can run, and everybody can use the page."""

from __future__ import annotations

import pytest

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedStore
from tests.e2e.page.wire import Q, begin, category, receipt, whole_answer

BOMBS = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
    "</title><iframe srcdoc='<script>alert(1)</script>'>",
)


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_hostile_catalog_and_a_hostile_model_cannot_run_script(
    browser: Browser, store: ScriptedStore, bomb: str
) -> None:
    """Every text field of the wire holds an attack; each is shown as text or dropped. Source: security."""
    hit = {
        "_id": bomb,
        "productTitle": bomb,
        "variantTitle": bomb,
        "brand": bomb,
        "price": 5,
        "currency": bomb,
        "variantImageUrl": bomb,
        "description": bomb,
    }
    browser.open(f"{store.url}/{Q}&title=x")
    run = store.next_run()
    run.send("init", {"categories": True, "summary": True})
    run.delta(status=bomb)
    run.delta(
        hits=[hit],
        totalHits=1,
        appliedFilter=bomb,
        filterDropped=True,
        originalFilter=bomb,
        facets={bomb: {bomb: {"count": 1}, "b": {"count": 2}}},
    )
    run.delta(categoryHits=[category(store, bomb, hits=[hit], filterDropped=True, originalFilter=bomb)])
    run.delta(queryComplements=[bomb])
    run.delta(summary=f"{bomb} [x](<p:{bomb}>) [y](<q:javascript:alert(1)>) [z](javascript:alert(1))")
    run.delta(error={"code": bomb, "message": bomb, "stage": "plan", "retryable": True})
    run.delta(receipt=receipt(source=bomb, warnings=[bomb], promptVersion=bomb, strategy=bomb))
    run.end()
    store.questions = [bomb]
    browser.wait("document.querySelector('.foot .link')")
    browser.click(".foot .link")
    browser.wait("document.querySelector('dialog.drawer')")
    browser.press("Escape")
    browser.click(".best .card-link")
    browser.wait("document.querySelector('dialog.sheet .questions .chip')")
    browser.click("dialog.sheet .questions .chip")
    turn = store.next_run()
    turn.send("conversation-id", {"conversationId": bomb})
    turn.send("category-hits", {"categoryHits": [category(store, bomb, hits=[hit])]})
    turn.send(
        "message", {"text": f"{bomb} [x](<p:{bomb}>) [y](javascript:alert(1))", "queryComplements": [bomb]}
    )
    turn.send("error", {"code": bomb, "message": bomb, "retryable": True})
    turn.end()
    browser.wait("document.querySelector('.turn-error')")
    foreign = "script:not([src^='/assets/']), iframe, object, embed, base, [onerror], [onload], svg"
    assert browser.js(f"document.querySelectorAll({foreign!r}).length") == 0
    hrefs = browser.js("[...document.querySelectorAll('a')].map((a) => a.protocol)")
    assert set(hrefs) <= {"http:", "https:"}
    seen = browser.seen()
    assert seen["dialogs"] == []
    assert [url for url in seen["requests"] if not url.startswith(store.url + "/")] == []


def test_the_policy_refuses_inline_script_and_markup_made_from_text(
    browser: Browser, store: ScriptedStore
) -> None:
    """Even our own code could not put text in as HTML. Source: Trusted Types."""
    browser.open(store.url)
    refused = "(() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } })()"
    assert browser.js(refused) is True
    inline = (
        "(() => { const s = document.createElement('script'); try { s.textContent = 'window.ran = 1';"
        " document.body.append(s) } catch {} return window.ran === undefined })()"
    )
    assert browser.js(inline) is True


def test_a_hostile_address_is_a_query_like_any_other(browser: Browser, store: ScriptedStore) -> None:
    """What stands in the address is shown as text."""
    browser.open(f"{store.url}/?q=%3Cimg%20src=x%20onerror=alert(1)%3E+and+some+more&f=a%3Cb:c&sort=%3Cx")
    run = store.next_run()
    whole_answer(run, store)
    browser.wait("document.querySelector('.foot .link')")
    assert browser.text("h1.query") == "<img src=x onerror=alert(1)> and some more"
    assert browser.seen()["dialogs"] == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("state", ["home", "answer", "list", "nothing", "product", "receipt", "chat"])
def test_the_accessibility_checker_finds_nothing_serious(
    browser: Browser, store: ScriptedStore, state: str, dark: bool
) -> None:
    """In every state and both themes."""
    path = {"home": "", "list": "?q=tent&view=list", "chat": "?view=chat"}.get(state, Q)
    browser.open(f"{store.url}/{path}", dark=dark)
    if state == "list":
        browser.wait("document.querySelectorAll('.card-link').length === 24")
    elif state == "chat":
        browser.fill(".composer textarea", "winter boots")
        browser.press("Enter")
        run = store.next_run()
        run.send("category-hits", {"categoryHits": [category(store, "Winter boots")]})
        run.send("message", {"text": "Here: [boots](<q:warm boots>).", "queryComplements": ["cheaper"]})
        run.end()
        browser.wait("document.querySelector('.answer[aria-busy=false]')")
    elif state == "nothing":
        run = store.next_run()
        run.send("init", {"categories": False, "summary": False})
        run.delta(hits=[], totalHits=0, facets={})
        browser.wait("document.querySelector('.offers')")
    elif state != "home":
        whole_answer(store.next_run(), store)
        browser.wait("document.querySelector('.foot .link')")
    if state == "product":
        browser.click(".best .card-link")
        browser.wait("document.querySelector('.product-description')")
    if state == "receipt":
        browser.click(".foot .link")
    assert [found for found in browser.axe() if found["impact"] in ("serious", "critical")] == []


def test_screen_readers_hear_the_outcome_and_not_every_word(browser: Browser, store: ScriptedStore) -> None:
    """The live region changes a few times in an answer, however many words the summary has."""
    browser.open(f"{store.url}/")
    browser.js(
        "(() => { window.said = []; const region = document.getElementById('announcer');"
        " new MutationObserver(() => window.said.push(region.textContent))"
        ".observe(region, { childList: true, characterData: true, subtree: true }); })()"
    )
    browser.fill("#q", "something warm for winter camping")
    browser.press("Enter")
    run = store.next_run()
    begin(run, store)
    for word in ("Some ", "words ", "of ", "summary ") * 10:
        run.delta(summary=word)
    run.delta(categoryHits=[category(store, "Boots")])
    run.delta(receipt=receipt())
    run.end()
    browser.wait("document.querySelector('.foot .link')")
    said = browser.js("window.said")
    assert said[0] == "40 products found."
    assert len(said) <= 3
