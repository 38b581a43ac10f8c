"""Measures the storefront page in a headless Chromium over a real demo server: `python -m bench.page`.

Times are taken in the page: from the key press to the frame after the first hits are drawn, and from the
arrival of the first category's bytes to the frame after its shelf is drawn.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from tests.e2e.page.browser import Browser
from tests.support.server_process import server_process

WARM_UP = 3
QUERIES = (
    "something warm for a winter camping trip",
    "a wedding gift for two people who love to cook",
    "make a small balcony a nice place to sit",
    "light for the tent and the table outside",
    "waterproof boots for women on wet trails",
    "a quiet lamp for the bedside table",
    "towels that dry fast for a long trip",
    "a big tent for a family holiday",
    "plain white bedding for a double bed",
    "pots and pans for a student room",
    "a wool blanket for winter evenings",
    "tools for a small vegetable garden",
    "a light jacket against wind and rain",
    "baskets and boxes for a small flat",
    "candles for a long dinner with friends",
    "a rug for a narrow dark hall",
    "coffee that stays hot on the train",
    "a stove for cooking on a trek",
)

_PROBE = """
(() => {
  const probe = (window.__probe = {});
  const painted = (name) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => (probe[name] ??= performance.now());
    channel.port2.postMessage(0);
  });
  addEventListener("keydown", (event) => event.key === "Enter" && (probe.enter = performance.now()), true);
  const seen = {};
  const look = (name, selector) => {
    if (seen[name] || !probe.enter || !document.querySelector(selector)) return;
    seen[name] = true;
    painted(name);
  };
  new MutationObserver(() => {
    look("hits", "#results .card-link");
    look("category", ".shelf:not(.shelf-empty)");
    look("done", ".foot .link");
  }).observe(document, { childList: true, subtree: true });
  const read = ReadableStreamDefaultReader.prototype.read;
  const decoder = new TextDecoder();
  ReadableStreamDefaultReader.prototype.read = async function (...rest) {
    const chunk = await read.apply(this, rest);
    const text = chunk.value ? decoder.decode(chunk.value) : "";
    if (text.includes('"hits":')) probe.found ??= performance.now();
    if (text.includes("categoryHits")) probe.arrived ??= performance.now();
    return chunk;
  };
})();
"""
_WEIGHT = """
[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")]
  .filter((entry) => !/[/](images|api)[/]/.test(entry.name))
  .reduce((sum, entry) => sum + entry.encodedBodySize, 0)
"""


def main() -> None:
    """Print one table."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_measure(Path(folder), chromium))
    print(f"{'storefront page':<44}{'p50':>10}{'worst':>10}")
    for name, values, unit in rows:
        print(f"{name:<44}{median(values):>10.1f}{max(values):>10.1f} {unit}")


async def _measure(folder: Path, chromium: str) -> list[tuple[str, list[float], str]]:
    async with server_process(folder, "demo") as server:
        browser = Browser(chromium)
        try:
            loads = [os.getloadavg()[0]]
            rounds = [_round(browser, server.url, query) for query in QUERIES]
            loads.append(os.getloadavg()[0])
        finally:
            browser.close()
    kept = rounds[WARM_UP:]
    return [
        ("first hits painted after Enter", [found["hits"] for found in kept], "ms"),
        ("first hits painted after their bytes", [found["drawn"] for found in kept], "ms"),
        ("first category painted after its event", [found["category"] for found in kept], "ms"),
        ("whole answer painted after Enter", [found["done"] for found in kept], "ms"),
        ("layout shift", [found["shift"] * 1000 for found in kept], "/1000"),
        ("page weight without product images", [found["weight"] / 1024 for found in kept], "KB"),
        ("requests to any other host", [float(found["foreign"]) for found in kept], ""),
        (f"load of the machine, of {os.cpu_count()} cores", loads, ""),
    ]


def _round(browser: Browser, url: str, query: str) -> dict[str, Any]:
    browser.open(url, init=_PROBE)
    browser.fill("#q", query)
    browser.press("Enter")
    browser.wait("window.__probe.done", 10)
    probe = browser.js("window.__probe")
    foreign = [address for address in browser.seen()["requests"] if not address.startswith(url + "/")]
    return {
        "hits": probe["hits"] - probe["enter"],
        "drawn": probe["hits"] - probe["found"],
        "category": probe.get("category", probe["done"]) - probe.get("arrived", probe["enter"]),
        "done": probe["done"] - probe["enter"],
        "shift": browser.js("window.__shift"),
        "weight": browser.js(_WEIGHT),
        "foreign": len(foreign),
    }


if __name__ == "__main__":
    main()
