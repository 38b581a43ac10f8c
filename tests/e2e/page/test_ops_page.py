"""The operations page in a real browser, over a real server: what it shows, to whom, and what never."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import re
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from tests.e2e.page.browser import Browser
from tests.e2e.page.past_traffic import past_days, past_requests
from tests.support.fault_proxy import FaultProxy
from tests.support.shop import AGENTIC, Shop, open_shop
from tests.worker.tail.completions import completion

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
BOMB = "<img src=x onerror=alert(1)><script>alert(2)</script>"
MAX_BYTES = 40_000
_SHOWN = "!document.getElementById('board').hidden"
_LIVE = "document.getElementById('state').dataset.state === 'live'"
_ROWS = "document.querySelectorAll('#last .requests li').length"


def _address(shop: Shop) -> str:
    return str(shop.client.base_url).rstrip("/")


async def _walk(walk: Callable[[Browser, str], None], browser: Browser, shop: Shop) -> None:
    async with asyncio.timeout(50):
        await asyncio.to_thread(walk, browser, _address(shop))


def _ask(url: str, query: str, key: str | None = None) -> None:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    httpx.get(f"{url}{AGENTIC}", params={"q": query}, headers=headers, timeout=10).raise_for_status()


def _open_live(browser: Browser, url: str, **options: object) -> None:
    browser.open(f"{url}/ops", **options)
    browser.wait(_SHOWN)
    browser.wait(_LIVE)


async def test_requests_before_and_during_a_look_are_drawn(browser: Browser, tmp_path: Path) -> None:
    """What was before is in the plots at once; what happens now is a line at once, and counted soon."""

    def walk(browser: Browser, url: str) -> None:
        _ask(url, QUERY)
        _open_live(browser, url)
        assert browser.text("#sources .panel-readout") == "1 in an hour"
        assert _legend(browser, "#sources") == ["rules 1"]
        assert "Plan (rules)" in browser.texts("#stages .bar-name")
        assert browser.js("document.querySelectorAll('#sources polygon, #outcomes rect').length") == 2
        assert browser.text("#last .panel-nothing") == "Requests appear here as they end."
        _ask(url, "red mug")
        browser.wait(f"{_ROWS} === 1")
        assert browser.text("#last .request-source") == "short query"
        assert browser.text("#last .requests .request-title").startswith("#")
        browser.wait("document.querySelector('#sources .panel-readout').textContent === '2 in an hour'", 10)
        assert _legend(browser, "#sources") == ["rules 1", "short query 1"]
        assert len(browser.texts("#slowest .requests li")) == 2
        assert browser.text("#tokens .panel-nothing") == "No model was asked: no tokens."
        assert browser.seen()["errors"] == []

    async with open_shop(tmp_path) as shop:
        await _walk(walk, browser, shop)


async def test_a_request_opens_its_stages_by_mouse_and_by_key(browser: Browser, tmp_path: Path) -> None:
    """The dialog has a bar for each stage; Escape leads back to the request."""

    def walk(browser: Browser, url: str) -> None:
        _open_live(browser, url)
        _ask(url, QUERY)
        browser.wait(f"{_ROWS} === 1")
        browser.click("#last .requests button")
        browser.wait("document.querySelector('dialog.drawer')")
        stages = browser.texts("dialog .bar-name")
        assert {"First search", "Plan (rules)", "Category searches", "Whole request"} <= set(stages)
        assert browser.js("document.querySelectorAll('dialog .bar rect').length") == len(stages)
        assert "not logged; its hash is" in browser.text("dialog .facts")
        browser.press("Escape")
        browser.wait("!document.querySelector('dialog')")
        browser.wait("document.activeElement.matches('#last .requests button')")
        browser.press("Enter")
        browser.wait("document.querySelector('dialog.drawer')")

    async with open_shop(tmp_path) as shop:
        await _walk(walk, browser, shop)


async def test_a_server_with_accounts_asks_for_a_key_and_says_what_is_wrong_with_one(
    browser: Browser, tmp_path: Path
) -> None:
    """The right key opens the page, lasts as long as the tab, and is in no address; a wrong one is named."""
    keys: dict[str, str] = {}

    def walk(browser: Browser, url: str) -> None:
        browser.open(f"{url}/ops")
        browser.wait("!document.getElementById('ask').hidden")
        assert browser.texts("#ask-error, #board") == []
        for wrong, said in (
            ("sk_nothing", "This server knows no such key, or it has ended."),
            ("schlüssel", "A key has no spaces, and letters and digits of ASCII alone."),
            (keys["publishable"], "This needs a secret key (sk_...)."),
        ):
            browser.fill("#key", wrong)
            browser.press("Enter")
            browser.wait(f"document.getElementById('ask-error').textContent === {said!r}")
        browser.fill("#key", keys["secret"])
        browser.press("Enter")
        browser.wait(_SHOWN)
        browser.wait(_LIVE)
        assert browser.text("h1") == "Operations of mine"
        assert browser.texts("#ask") == []
        browser.reload()
        browser.wait(_SHOWN)
        browser.fill("#account", "demo")
        browser.press("Enter")
        browser.wait("!document.getElementById('notice').hidden")
        assert browser.text("#notice") == "This key is of account 'mine', not of 'demo'."
        browser.wait("document.getElementById('account').value === ''")
        browser.wait(_LIVE)
        assert browser.text("h1") == "Operations of mine"
        browser.click("#forget")
        browser.wait("!document.getElementById('ask').hidden")
        assert browser.js("sessionStorage.length + localStorage.length") == 0
        seen = browser.seen()
        assert [each for each in seen["requests"] if "sk_" in each or keys["secret"] in each] == []
        assert [url for url in seen["requests"] if "account=demo" in url]

    async with open_shop(tmp_path, demo=False) as shop:
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        for kind in ("secret", "publishable"):
            keys[kind] = (await office.keys.create("mine", kind, {}, actor="test")).token
        await _walk(walk, browser, shop)


async def test_an_operator_looks_at_another_account(browser: Browser, tmp_path: Path) -> None:
    """The account field changes whose numbers and whose requests are shown."""
    keys: list[str] = []

    def walk(browser: Browser, url: str) -> None:
        _ask(url, QUERY)
        browser.open(f"{url}/ops", init=f"sessionStorage.setItem('aisle-operations-key', {keys[0]!r})")
        browser.wait(_SHOWN)
        browser.wait(_LIVE)
        assert browser.text("h1") == "Operations of mine"
        assert browser.text("#sources .panel-nothing") == "No request in this time."
        browser.fill("#account", "demo")
        browser.press("Enter")
        browser.wait("document.querySelector('h1').innerText === 'Operations of demo'")
        browser.wait(_LIVE)
        assert browser.text("#sources .panel-readout") == "1 in an hour"
        _ask(url, "red mug")
        browser.wait(f"{_ROWS} === 1")

    async with open_shop(tmp_path) as shop:
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        keys.append((await office.keys.create("mine", "secret", {"operator": True}, actor="test")).token)
        await _walk(walk, browser, shop)


async def test_a_hostile_query_is_text_and_an_address_of_nothing(browser: Browser, tmp_path: Path) -> None:
    """An account that logs its queries shows a shopper's words, which cannot run. Source: Trusted Types."""

    def walk(browser: Browser, url: str) -> None:
        _open_live(browser, url)
        _ask(url, f"{BOMB} and more words")
        browser.wait(f"{_ROWS} === 1")
        assert browser.text("#last .requests .request-title").startswith(BOMB)
        browser.wait("document.querySelector('#slowest .requests')", 10)
        assert browser.text("#slowest .requests .request-title").startswith(BOMB)
        browser.click("#slowest .requests button")
        browser.wait("document.querySelector('dialog.drawer')")
        assert browser.text("dialog h2").startswith(BOMB)
        foreign = "script:not([src^='/assets/']), img, iframe, [onerror], [style]"
        assert browser.js(f"document.querySelectorAll({foreign!r}).length") == 0
        seen = browser.seen()
        assert (seen["dialogs"], seen["errors"]) == ([], [])
        assert [each for each in seen["requests"] if not each.startswith(url + "/")] == []

    async with open_shop(tmp_path) as shop:
        change = {"agentic_config": {"log_queries": True}}
        await shop.services.office.administration.set_settings("demo", "demo", change, actor="test")
        await _walk(walk, browser, shop)


async def test_a_hidden_page_asks_for_nothing_and_goes_on_when_it_is_seen(
    browser: Browser, tmp_path: Path
) -> None:
    """Hidden, it follows nobody; seen again, it is live and has the numbers of now."""
    hide = (
        "(() => { Object.defineProperty(document, 'hidden', { value: %s, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); })()"
    )

    def walk_away(browser: Browser, url: str) -> None:
        _open_live(browser, url)
        browser.js(hide % "true")
        assert browser.text("#state").startswith("Paused while nobody looks")

    def come_back(browser: Browser, url: str) -> None:
        before = len(browser.seen()["requests"])
        _ask(url, QUERY)
        assert len(browser.seen()["requests"]) == before
        browser.js(hide % "false")
        browser.wait(_LIVE)
        assert browser.text("#sources .panel-readout") == "1 in an hour"

    async with open_shop(tmp_path) as shop:
        await _walk(walk_away, browser, shop)
        async with asyncio.timeout(5):
            while "tail" in shop.services.observers.names:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.01)
        await _walk(come_back, browser, shop)


async def test_a_server_that_goes_away_is_said_so_and_found_again(browser: Browser, tmp_path: Path) -> None:
    """The last numbers stay, with their time; the page never says that it is live when it is not."""

    def look(url: str) -> None:
        _ask(url, QUERY)
        _open_live(browser, url)

    def miss_it() -> None:
        browser.wait("document.getElementById('state').dataset.state === 'lost'")
        browser.wait(
            "document.getElementById('state').textContent.startsWith('The server does not answer.')", 10
        )
        assert re.search(r" · numbers of \d\d:\d\d:\d\d$", browser.text("#state"))
        assert browser.text("#sources .panel-readout") == "1 in an hour"

    def find_it(url: str) -> None:
        browser.wait(_LIVE, 15)
        _ask(url, "red mug")
        browser.wait(f"{_ROWS} === 1")

    async with open_shop(tmp_path) as shop, FaultProxy(shop.client.base_url.port or 0) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        await asyncio.to_thread(look, url)
        await proxy.stop()
        await asyncio.to_thread(miss_it)
        await proxy.start()
        await asyncio.to_thread(find_it, url)


async def test_a_plots_values_are_read_by_key_by_mouse_and_by_ear(browser: Browser, tmp_path: Path) -> None:
    """Arrow keys go through the minutes and are heard; a pointer shows the same; every plot has words."""

    def walk(browser: Browser, url: str) -> None:
        _open_live(browser, url)
        browser.js("document.querySelector('#sources .panel-body').focus()")
        browser.press("ArrowLeft")
        last = browser.text("#sources .panel-readout")
        assert re.match(r"\d\d:\d\d — ", last)
        assert browser.js("document.getElementById('announcer').textContent") == last
        browser.press("ArrowLeft")
        assert browser.text("#sources .panel-readout") != last
        assert browser.js("document.querySelectorAll('#sources .cursor').length") == 1
        browser.press("Escape")
        whole = browser.text("#sources .panel-readout")
        assert whole.endswith(" in an hour")
        move = (
            "(() => { const body = document.querySelector('#tokens .panel-body'); const box ="
            " body.getBoundingClientRect(); body.dispatchEvent(new PointerEvent('pointermove',"
            " { clientX: box.right - 40, clientY: box.top + 20 })); })()"
        )
        browser.js(move)
        assert re.match(r"\w{3} \d+ — input ", browser.text("#tokens .panel-readout"))
        words = browser.js(
            "[...document.querySelectorAll('.panel .visually-hidden')].map((e) => e.textContent)"
        )
        assert len(words) == 10
        told = [text for text in words if re.search(r"\d", text)]
        assert len(told) == 9
        assert browser.text("#money .panel-note").startswith("Prices of 2026-07-21 in USD.")
        assert "gemini-3.5-flash-lite" in browser.text("#money .panel-legend")

    async with open_shop(tmp_path) as shop:
        _remember(shop)
        await _walk(walk, browser, shop)


async def test_a_model_without_a_price_costs_nothing_known(browser: Browser, tmp_path: Path) -> None:
    """Its tokens are drawn, its money is not made up."""

    def walk(browser: Browser, url: str) -> None:
        _open_live(browser, url)
        assert browser.text("#money .panel-nothing") == "No price known for a-model-of-ours."
        assert _legend(browser, "#tokens") == ["input 60", "cached input 40", "output 20"]

    async with open_shop(tmp_path) as shop:
        tokens = {"input": 100, "output": 20, "cached": 40}
        shop.services.observers.observe(
            completion(account="demo", model="a-model-of-ours", tokens=tokens, at=time.time())
        )
        await _walk(walk, browser, shop)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_the_accessibility_checker_finds_nothing_serious(
    browser: Browser, tmp_path: Path, dark: bool
) -> None:
    """At a phone's width and a desk's, with plots, with a request open, and at the question for a key."""

    def walk(browser: Browser, url: str) -> None:
        for width in (320, 1440):
            _open_live(browser, url, width=width, dark=dark)
            _ask(url, "red mug")
            browser.wait(f"{_ROWS} >= 1")
            assert browser.js("document.documentElement.scrollWidth <= innerWidth")
            _check(browser)
            browser.click("#slowest .requests button")
            browser.wait("document.querySelector('dialog.drawer')")
            _check(browser)
            assert browser.seen()["errors"] == []
        browser.js("(() => { document.getElementById('ask').hidden = false; })()")
        browser.js("document.querySelector('dialog').close()")
        _check(browser)

    async with open_shop(tmp_path) as shop:
        _remember(shop)
        await _walk(walk, browser, shop)


def test_the_page_weighs_little() -> None:
    """Everything that it loads, as it travels."""
    pages = files("search_proxy.pages")
    names = set(re.findall(r'/assets/([\w.]+)"', (pages / "ops.html").read_text())) | {"ops.html"}
    assert sum(len(gzip.compress((pages / name).read_bytes(), 9)) for name in names) < MAX_BYTES


def test_every_module_of_the_page_is_loaded_beforehand() -> None:
    """No module waits for another to name it."""
    pages = files("search_proxy.pages")
    page = (pages / "ops.html").read_text()
    modules = [each for each in pages.iterdir() if re.match(r"ops\w*\.js$", each.name)]
    imported = {name for each in modules for name in re.findall(r'from "\./([\w.]+)"', each.read_text())}
    assert imported == set(re.findall(r'modulepreload" href="/assets/([\w.]+)"', page))


def _remember(shop: Shop) -> None:
    """Give the shop a past."""
    now = time.time()
    for each in [*past_days(now), *past_requests(now)]:
        shop.services.observers.observe(dataclasses.replace(each))


def _legend(browser: Browser, panel: str) -> list[str]:
    return [" ".join(text.split()) for text in browser.texts(f"{panel} .panel-legend li")]


def _check(browser: Browser) -> None:
    assert [found for found in browser.axe() if found["impact"] in ("serious", "critical")] == []
