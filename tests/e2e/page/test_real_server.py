"""The page over a real demo server: the sample store, the catalog planner, nothing scripted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.e2e.page.browser import Browser
from tests.e2e.page.wire import Q
from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini.scenarios import stalled
from tests.support.server_process import server_process

pytestmark = pytest.mark.anyio


async def test_the_demo_answers_with_shelves_pictures_and_a_list_that_can_be_narrowed(
    browser: Browser, tmp_path: Path
) -> None:
    """What `aisle demo` prints an address for works in a browser, from question to product to chat."""
    async with asyncio.timeout(90), server_process(tmp_path, "demo") as server:
        await asyncio.to_thread(_walk_through, browser, server.url)


async def test_a_server_that_restarts_in_the_middle_costs_one_press(browser: Browser, tmp_path: Path) -> None:
    """Killed during an answer: an honest line and one button, which the next server answers."""
    async with asyncio.timeout(120), ScriptedGemini() as gemini:
        gemini.choose = lambda _: stalled()
        model = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "test-key",
            "model_first_chunk_seconds": "25",
            "model_total_seconds": "25",
        }
        async with server_process(tmp_path, "demo", **model) as server:
            port = server.url.rpartition(":")[2]
            await asyncio.to_thread(browser.open, f"{server.url}/{Q}")
            await asyncio.to_thread(browser.wait, "document.querySelector('.best .card-link')", 20)
            server.process.kill()
            await server.process.wait()
            await asyncio.to_thread(browser.wait, "document.querySelector('.error button')", 30)
        said = await asyncio.to_thread(browser.texts, ".error p")
        async with server_process(tmp_path, "demo", port=port):
            await asyncio.to_thread(browser.click, ".error button")
            await asyncio.to_thread(browser.wait, "document.querySelector('.foot .link')", 20)
            assert await asyncio.to_thread(browser.texts, ".error") == []
    assert len(said) == 1


def _walk_through(browser: Browser, url: str) -> None:
    browser.open(url)
    browser.fill("#q", "slee")
    browser.wait(
        "[...document.querySelectorAll('.completions li')].some((e) => e.dataset.q === 'sleeping bag')"
    )
    browser.open(f"{url}/{Q}")
    browser.wait("document.querySelector('.foot .link')", 20)
    assert browser.texts(".error") == []
    assert len(browser.texts(".shelf:not(.shelf-empty) h2")) >= 1
    assert browser.wait("[...document.querySelectorAll('.best img')].every((i) => i.naturalWidth > 0)")
    browser.click(".best .see-all")
    browser.wait("document.querySelectorAll('.grid .card-link').length === 24")
    before = browser.text(".status")
    browser.wait("document.querySelector('.facet input')")
    browser.js("document.querySelector('.facet input').click()")
    browser.wait(f"document.querySelector('.status')?.textContent.match(/\\d/) && {_status_is_not(before)}")
    browser.click(".grid .card-link")
    browser.wait("document.querySelector('.variants, .product-description')")
    browser.wait("document.querySelector('.questions .chip')")
    browser.click(".questions .chip")
    browser.wait("document.querySelector('.turn .answer[aria-busy=false]')", 20)
    browser.wait("document.querySelector('.turn-text').textContent")
    assert browser.texts(".turn-error") == []
    browser.reload()
    browser.wait("document.querySelectorAll('.turn').length === 1")
    browser.click(".lede .link")
    browser.click(".lede .link")
    browser.wait("!document.querySelector('.turn')")
    assert browser.seen()["errors"] == []


def _status_is_not(text: str) -> str:
    return f"document.querySelector('.status').textContent !== {text!r}"
