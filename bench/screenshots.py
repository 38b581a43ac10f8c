"""Takes the pictures of the storefront and operations pages: `python -m bench.screenshots [FOLDER]`.

A demo server gives the products and the answers. Two pictures need a stream that stands still, or a model
that looks at a photograph: there, a scripted server sends events over the same products. The requests on the
operations page are made up, and go the way of real ones.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image

from tests.e2e.page.browser import Browser
from tests.e2e.page.past_traffic import past_days, past_requests
from tests.e2e.page.scripted_store import scripted_store
from tests.support.server_process import server_process
from tests.support.shop import open_shop

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
MAX_BYTES = 200_000
QUESTION = "something warm for a winter camping trip"
SIZE = {"width": 1280, "height": 880}
TALL = {"width": 1280, "height": 1280}
DESK = {"width": 1280, "height": 1500}
_PAINTED = "[...document.querySelectorAll('.card img[loading=eager]')].every((i) => i.complete)"
_SETTLED = "new Promise((done) => setTimeout(() => done(true), 600))"


def main() -> None:
    """Take them and print one table."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("chromium is not installed")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        asyncio.run(_take_all(Path(data), chromium, folder))
    print(f"{'picture':<32}{'KB':>8}")
    for path in sorted(folder.glob("*.png")):
        print(f"{path.name:<32}{path.stat().st_size / 1024:>8.0f}")


async def _take_all(data: Path, chromium: str, folder: Path) -> None:
    async with server_process(data, "demo") as server:
        browser = Browser(chromium)
        try:
            _real(browser, server.url, folder)
            _scripted(browser, server.url, folder)
            await _operations(browser, data, folder)
        finally:
            browser.close()


def _real(browser: Browser, url: str, folder: Path) -> None:
    query = QUESTION.replace(" ", "+")
    browser.open(f"{url}/?q={query}", **TALL)
    browser.wait("document.querySelector('.foot .link')", 20)
    _shoot(browser, folder / "search-done.png")
    browser.open(f"{url}/?q=linen+throw", **SIZE)
    browser.wait("document.querySelectorAll('.grid .card-link').length >= 8", 20)
    browser.wait("document.querySelector('.facet')")
    _shoot(browser, folder / "classic-results.png")
    browser.open(f"{url}/?q={query}&product=tent-001-1", dark=True, **SIZE)
    browser.wait("document.querySelector('.questions .chip') && document.querySelector('.variants')", 20)
    _shoot(browser, folder / "product.png")
    browser.open(f"{url}/?q={query}", width=390, height=844)
    browser.wait("document.querySelector('.foot .link')", 20)
    _shoot(browser, folder / "phone.png")


def _scripted(browser: Browser, url: str, folder: Path) -> None:
    with scripted_store() as store:
        browser.open(f"{store.url}/?q={QUESTION.replace(' ', '+')}", **TALL)
        run = store.next_run()
        rows = 0
        for name, data in _events(url, QUESTION):
            rows += "categoryHits" in data
            if rows == 2 or name == "stream-end":
                break
            run.send(name, data)
        browser.wait("document.querySelector('.shelf:not(.shelf-empty)')")
        _shoot(browser, folder / "search-arriving.png")

        lamps = _search(url, "stoneware table lamp", 8)
        vases = _search(url, "terracotta planter", 8)
        browser.open(f"{store.url}/?view=chat", **SIZE)
        browser.drop(".chat", "#e9dccd", lamps["hits"][0]["variantImageUrl"])
        browser.wait("document.querySelector('.thumbs .thumb')?.width > 1")
        browser.fill(".composer textarea", "I saw this lamp at a friend's. What goes with it on a shelf?")
        browser.press("Enter")
        run = store.next_run()
        run.send("conversation-id", {"conversationId": "c-1"})
        first = vases["hits"][0]
        said = "A pale foot and a warm shade like that want something earthy beside them: start with the "
        link = f"[{first['productTitle']}](<p:{first['_id']}>)"
        run.send("message", {"text": f"{said}{link}, and keep the rest plain."})
        for label, found in (("Planters in terracotta", vases), ("Lamps like yours", lamps)):
            row = {"query": label, "category": label, "confidence": 0.9, "appliedFilter": None, **found}
            run.send("category-hits", {"categoryHits": [row]})
        run.send(
            "message", {"queryComplements": ["under €30", "something in cream", "the second one, but larger"]}
        )
        run.end()
        browser.wait("document.querySelector('.answer[aria-busy=false]')")
        _shoot(browser, folder / "chat-picture.png")


async def _operations(browser: Browser, data: Path, folder: Path) -> None:
    async with open_shop(data / "operations") as shop:
        observe = shop.services.observers.observe
        now = time.time()
        requests = list(past_requests(now))
        for each in [*past_days(now), *requests]:
            observe(each)
        url = f"{str(shop.client.base_url).rstrip('/')}/ops"
        await asyncio.to_thread(browser.open, url, **DESK)
        await asyncio.to_thread(browser.wait, "document.getElementById('state').dataset.state === 'live'")
        for each in requests[103:113]:
            observe(dataclasses.replace(each, at=time.time()))
        await asyncio.to_thread(browser.wait, "document.querySelectorAll('#last .requests li').length === 10")
        await asyncio.to_thread(_shoot, browser, folder / "ops.png")
        shop.drain(0)


def _shoot(browser: Browser, path: Path) -> None:
    browser.wait(_PAINTED)
    browser.js("document.activeElement?.blur()")
    browser.js(_SETTLED)
    browser.screenshot(path)
    with Image.open(path) as taken:
        small = BytesIO()
        taken.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    path.write_bytes(small.getvalue())
    if path.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{path.name} has {path.stat().st_size} bytes; at most {MAX_BYTES} are allowed")


def _events(url: str, question: str) -> Iterator[tuple[str, dict[str, Any]]]:
    asked = urlencode({"q": question, "searchSettings": '{"limit":24}'})
    address = f"{url}/api/v1/indexes/demo/agentic-search?{asked}"
    name = ""
    with urllib.request.urlopen(address) as response:
        for line in response:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)


def _search(url: str, query: str, limit: int) -> dict[str, Any]:
    body = json.dumps({"q": query, "limit": limit}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v1/indexes/demo/search", body, headers)
    with urllib.request.urlopen(request) as response:
        found = json.load(response)
    return {"hits": found["hits"], "totalHits": found["totalHits"]}


if __name__ == "__main__":
    main()
