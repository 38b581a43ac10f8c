"""The chat: a thread that goes on from a search or a product, survives a reload, and can be stopped."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedRun, ScriptedStore
from tests.e2e.page.wire import Q, category, receipt, whole_answer

CHAT = "?view=chat"
DONE = "document.querySelector('.turn:last-child .answer[aria-busy=false]')"


def _say(browser: Browser, text: str) -> None:
    browser.fill(".composer textarea", text)
    browser.press("Enter")


def _begin(run: ScriptedRun, store: ScriptedStore, text: str = "Here they are: ") -> None:
    run.send("conversation-id", {"conversationId": "c-1"})
    run.send("category-hits", {"categoryHits": [category(store, "Winter boots")]})
    run.send("message", {"text": text})


def _finish(run: ScriptedRun, text: str = "boots.", **more: Any) -> None:
    run.send("message", {"text": text, **more})
    run.send("message", {"receipt": receipt(conversationId="c-1", turn=1)})
    run.end()


def _turn(store: ScriptedStore, text: str = "boots.", **more: Any) -> ScriptedRun:
    run = store.next_run()
    _begin(run, store)
    _finish(run, text, **more)
    return run


def test_a_chat_goes_on_from_a_search_and_survives_a_reload(browser: Browser, store: ScriptedStore) -> None:
    """The search is the thread's first turn; the id that names the conversation is never in an address."""
    browser.open(f"{store.url}/{Q}")
    whole_answer(store.next_run(), store)
    browser.wait("document.querySelector('.follow-up')")
    browser.fill(".follow-up input", "cheaper, please")
    browser.press("Enter")
    first = _turn(store)
    assert first.parameters["q"] == "something warm for a winter camping trip"
    second = store.next_run()
    assert (second.parameters["q"], second.parameters["conversationId"]) == ("cheaper, please", "c-1")
    assert not second.parameters.keys() & {"images", "documentIds"}
    _begin(second, store, "Cheaper ones: ")
    _finish(second, "these.", queryComplements=["in blue"])
    browser.wait(f"document.querySelectorAll('.turn').length === 2 && {DONE}")
    texts = browser.texts(".turn-text")
    assert texts == ["Here they are: boots.", "Cheaper ones: these."]
    browser.reload()
    browser.wait(f"document.querySelectorAll('.turn').length === 2 && {DONE}")
    assert browser.texts(".turn-text") == texts
    assert browser.texts(".turn-row h3") == ["Winter boots", "Winter boots"]
    assert "c-1" not in browser.js("location.href")
    assert store.runs_started == 3
    browser.click(".turn:last-child .chip")
    assert store.next_run().parameters["q"] == "in blue"


def test_a_reload_in_the_middle_of_an_answer_goes_on_with_the_same_run(
    browser: Browser, store: ScriptedStore
) -> None:
    """Nothing is asked, and billed, a second time; what had come stays."""
    browser.open(f"{store.url}/{CHAT}")
    _say(browser, "winter boots")
    run = store.next_run()
    _begin(run, store, "One, ")
    browser.wait("document.querySelector('.turn-text').textContent === 'One, '")
    browser.reload()
    run.wait_for_readers(2)
    _finish(run, "two.")
    browser.wait(DONE)
    assert browser.text(".turn-text") == "One, two."
    assert browser.texts(".turn-row h3") == ["Winter boots"]
    assert store.runs_started == 1


def test_stopping_stops_the_run_itself_and_asking_again_takes_its_place(
    browser: Browser, store: ScriptedStore
) -> None:
    """The server is told at once, what was said stays, and one button asks again."""
    browser.open(f"{store.url}/{CHAT}")
    _say(browser, "winter boots")
    run = store.next_run()
    _begin(run, store, "Half an")
    browser.wait("document.querySelector('.turn-text').textContent === 'Half an'")
    browser.click(".stop")
    browser.wait("document.querySelector('.turn-status').textContent === 'Stopped.'")
    store.wait_for(lambda: store.stopped == [run.id])
    assert browser.text(".turn-text") == "Half an"
    browser.click(".turn-foot .quiet")
    again = _turn(store)
    assert again.parameters["q"] == "winter boots"
    browser.wait(DONE)
    assert browser.texts(".said") == ["winter boots"]


def test_leaving_an_answer_under_way_stops_it(browser: Browser, store: ScriptedStore) -> None:
    """A search whose page is left is not worked on any longer. Source: storefront page."""
    browser.open(f"{store.url}/{Q}")
    run = store.next_run()
    run.send("init", {"categories": True, "summary": True})
    browser.wait("document.querySelectorAll('.shelf-empty').length === 5")
    browser.click("#chat-link")
    store.wait_for(lambda: store.stopped == [run.id])


def test_a_picture_dropped_anywhere_is_sent_small_and_without_its_metadata(
    browser: Browser, store: ScriptedStore
) -> None:
    """It opens the chat, can be taken back, and leaves as a JPEG of at most 1,024 pixels."""
    browser.open(store.url)
    browser.drop("#q", "#a43c2a")
    browser.wait("document.querySelectorAll('.thumbs .thumb').length === 1")
    browser.drop(".chat", "#2a4ca4")
    browser.wait("document.querySelectorAll('.thumbs .thumb').length === 2")
    browser.click(".thumbs button")
    browser.wait("document.querySelectorAll('.thumbs .thumb').length === 1")
    _say(browser, "a jacket in this colour")
    run = store.next_run()
    (sent,) = run.parameters["images"]
    with Image.open(BytesIO(base64.b64decode(sent))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (1024, 576))
        red, _, blue = picture.convert("RGB").getpixel((500, 300))  # type: ignore[misc]
        assert blue > red
    _begin(run, store)
    _finish(run)
    browser.wait(DONE)
    browser.reload()
    browser.wait("document.querySelector('.said .thumb')?.width === 240")
    assert browser.seen()["errors"] == []


def test_a_picture_can_be_chosen_and_what_is_none_is_refused(
    browser: Browser, store: ScriptedStore, tmp_path: Path
) -> None:
    """The file dialog takes several; a text file is named as no picture."""
    Image.new("RGB", (40, 30), "teal").save(tmp_path / "a.png")
    (tmp_path / "b.png").write_text("no picture")
    browser.open(f"{store.url}/{CHAT}")
    browser.files(".attach input", [tmp_path / "a.png", tmp_path / "b.png"])
    browser.wait("document.querySelectorAll('.thumbs .thumb').length === 1")
    assert "no picture" in browser.text(".composer-note")


def test_a_phone_offers_its_camera_beside_its_pictures(
    browser: Browser, store: ScriptedStore, tmp_path: Path
) -> None:
    """What the camera took goes out as a picture; a desk has one dialog, not two for the same."""
    Image.new("RGB", (640, 480), "teal").save(tmp_path / "taken.jpg")
    camera = ".attach input[capture=environment]"
    browser.open(f"{store.url}/{CHAT}", width=320, touch=True)
    assert browser.texts(".attach span") == ["Picture", "Camera"]
    assert browser.js("document.querySelector('.composer textarea').offsetWidth") > 250
    browser.files(camera, [tmp_path / "taken.jpg"])
    browser.wait("document.querySelector('.thumbs .thumb')?.width > 1")
    browser.press("Enter")
    assert len(store.next_run().parameters["images"]) == 1
    browser.open(f"{store.url}/{CHAT}")
    assert browser.texts(".attach span") == ["Picture"]


def test_a_product_is_asked_about_by_its_questions(browser: Browser, store: ScriptedStore) -> None:
    """The product goes with every question until it is taken off."""
    product = store.products[0]
    store.questions = ["Is it warm?", "Which colours are there?"]
    browser.open(f"{store.url}/?product={product['_id']}")
    browser.wait("document.querySelectorAll('.questions .chip').length === 2")
    assert store.asked_about[0]["documentId"] == product["_id"]
    browser.click(".questions .chip")
    run = _turn(store)
    assert (run.parameters["q"], run.parameters["documentIds"]) == ("Is it warm?", [product["_id"]])
    browser.wait(DONE)
    assert product["productTitle"] in browser.text(".about").replace("\u00a0", " ")
    browser.click(".about .close")
    _say(browser, "something else")
    assert "documentIds" not in store.next_run().parameters
    assert "about=" not in browser.js("location.search")


def test_deleting_a_conversation_asks_once_and_deletes_it_on_the_server(
    browser: Browser, store: ScriptedStore
) -> None:
    """After a second press nothing of it is left, here or there."""
    browser.open(f"{store.url}/{CHAT}")
    _say(browser, "winter boots")
    _turn(store)
    browser.wait(DONE)
    browser.click(".lede .link")
    assert browser.text(".lede .link") == "Delete for good?"
    browser.click(".lede .link")
    browser.wait("!document.querySelector('.turn')")
    assert store.deleted == ["c-1"]
    assert browser.js("Object.keys(sessionStorage).filter((key) => key.startsWith('aisle-thread'))") == []


def test_a_failure_in_a_turn_is_said_beside_what_came(browser: Browser, store: ScriptedStore) -> None:
    """A stage's error leaves the stream standing; a refusal has the server's words."""
    browser.open(f"{store.url}/{CHAT}")
    _say(browser, "winter boots")
    run = store.next_run()
    _begin(run, store)
    failure = {"code": "deadline_exceeded", "message": "the answer took too long", "stage": "run"}
    run.send("error", {**failure, "retryable": True})
    _finish(run)
    browser.wait(DONE)
    assert browser.texts(".turn-foot .turn-error") == ["The answer took too long."]
    assert browser.text(".turn-text") == "Here they are: boots."
    store.refusal = (400, {"message": "images are not enabled", "code": "feature_disabled", "type": "t"})
    _say(browser, "and these")
    browser.wait("document.querySelectorAll('.turn-foot .turn-error').length === 2")
    assert browser.texts(".turn-foot .turn-error")[1] == "Images are not enabled."
    browser.reload()
    browser.wait("document.querySelectorAll('.turn-foot .turn-error').length === 2")


def test_completions_are_chosen_by_keyboard_and_a_shop_without_them_is_silent(
    browser: Browser, store: ScriptedStore
) -> None:
    """Arrow and Enter search for a completion; Escape gives back what was typed; a 404 shows nothing."""
    store.completions = ["wool blanket", "wool socks"]
    browser.open(store.url)
    browser.fill("#q", "wool")
    browser.wait("document.querySelectorAll('.completions li').length === 2")
    assert browser.js("document.getElementById('q').getAttribute('aria-expanded')") == "true"
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert browser.js("document.getElementById('q').value") == "wool socks"
    browser.press("Escape")
    assert browser.js("document.getElementById('q').value") == "wool"
    browser.fill("#q", "wool b")
    browser.wait("document.querySelectorAll('.completions li').length === 1")
    browser.press("ArrowDown")
    browser.press("Enter")
    assert store.next_run().parameters["q"] == "wool blanket"
    browser.wait("document.querySelector('.completions').hidden")
    store.completions = None
    browser.open(store.url)
    browser.fill("#q", "wool")
    browser.wait("performance.getEntriesByType('resource').some((e) => e.name.endsWith('/queries'))")
    browser.wait("document.querySelector('.completions').hidden")
    assert browser.texts(".error") == []
