"""`fetch_page`: clean text from public pages, and nothing from anywhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from search_proxy.web.addresses import is_address, is_public
from search_proxy.web.fetch_bounds import PAGE_PORTS, FetchBounds
from search_proxy.web.page_fetcher import HttpPageFetcher, open_page_fetcher
from search_proxy.web.tier import WebError
from tests.search_proxy.web.web_servers import NameTable, Page, SmallWeb, html, moved, small_web
from worker.settings import Settings, SettingsError

pytestmark = pytest.mark.anyio

LOOPBACK = "127.0.0.1"
PUBLIC = frozenset({LOOPBACK})
"""What these tests call public: the one address that our own small web is at."""


@asynccontextmanager
async def fetching(
    pages: Mapping[str, Page],
    names: Mapping[str, list[str]] | None = None,
    allowed: frozenset[str] = PUBLIC,
    **bounds: Any,
) -> AsyncIterator[tuple[HttpPageFetcher, SmallWeb, NameTable]]:
    """Yield a fetcher that takes the small web's address for public."""
    table = NameTable({"docs.example": [LOOPBACK], **(names or {})})
    async with small_web(pages) as web:
        chosen = FetchBounds(
            allow_address=lambda address: address in allowed,
            resolver=table,
            **{"ports": PAGE_PORTS | {web.port}, **bounds},
        )
        async with open_page_fetcher(chosen) as fetcher:
            yield fetcher, web, table


async def test_a_page_becomes_its_title_and_clean_text() -> None:
    """No scripts, styles, navigation, SVG, base64; headings stay."""
    page = """<html><head><title>Descaling &amp; care</title><style>p{}</style>
    <script>alert(1)</script></head>
    <body><nav><a href=/>Home</a></nav><header>Shop</header><main><h1>Descaling</h1>
    <p>Fill the <b>tank</b> with&nbsp;water.</p><svg><text>drawn</text></svg>
    <p>data:image/png;base64,%s</p><div hidden>secret</div><ul><li><a href=/a>All articles</a></li></ul>
    <h2>How often</h2><p>Every month.</p></main><footer>Imprint</footer></body></html>""" % ("QUJD" * 60)
    async with fetching({"/care": html(page)}) as (fetcher, web, _):
        read = await fetcher.fetch(f"http://docs.example:{web.port}/care#top")
    assert read.title == "Descaling & care"
    assert read.text == "# Descaling\nFill the tank with water.\n## How often\nEvery month."
    assert not read.is_truncated


async def test_a_redirect_is_followed_and_checked_like_the_first_address() -> None:
    """To a public page yes; to the metadata service, the loopback or a file no."""
    async with fetching({"/a": html(""), "/b": html("<p>there</p>")}) as (fetcher, web, _):
        base = f"http://docs.example:{web.port}"
        web.pages["/a"] = moved("/b")
        assert (await fetcher.fetch(f"{base}/a")).url == f"{base}/b"
        for target in (
            "http://169.254.169.254/latest/meta-data",
            f"http://[::1]:{web.port}/b",
            f"http://localhost:{web.port}/b",
            "http://2130706433/",
            "http://0x7f.1/",
            "file:///etc/passwd",
            "gopher://docs.example/",
        ):
            web.pages["/a"] = moved(target)
            with pytest.raises(WebError):
                await fetcher.fetch(f"{base}/a")
        assert web.paths().count("/b") == 1


async def test_other_ports_than_those_of_pages_are_not_asked() -> None:
    """Not at first and not after a redirect: a public host's other services are none of a tool's business."""
    async with fetching({"/a": html("<p>there</p>")}, ports=PAGE_PORTS) as (fetcher, web, _):
        url = f"http://docs.example:{web.port}/a"
        with pytest.raises(WebError, match=f"at port {web.port}, .* allowed are the ports 80, 443"):
            await fetcher.fetch(url)
        assert web.asked == []
    async with fetching({"/a": html("")}) as (fetcher, web, _):
        for target in ("http://docs.example:6379/", "https://docs.example:22/"):
            web.pages["/a"] = moved(target)
            with pytest.raises(WebError, match="at port (6379|22), "):
                await fetcher.fetch(f"http://docs.example:{web.port}/a")


def test_the_operator_names_further_ports() -> None:
    """`AISLE_FETCH_PORTS` adds to 80 and 443; what is no list of ports is said at the start."""
    assert Settings.from_env({}).fetch_bounds().ports == {80, 443}
    assert Settings.from_env({"AISLE_FETCH_PORTS": "8080, 8443"}).fetch_bounds().ports == {
        80,
        443,
        8080,
        8443,
    }
    with pytest.raises(SettingsError, match="AISLE_FETCH_PORTS"):
        Settings.from_env({"AISLE_FETCH_PORTS": "http"})


@pytest.mark.parametrize(
    "address", ["10.0.0.5", "192.168.1.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.5", "0.0.0.0"]
)
async def test_a_name_at_a_private_address_is_refused_after_resolution(address: str) -> None:
    """The name says nothing; its address does. No connection is made."""
    async with fetching({}, {"inside.example": [address]}) as (fetcher, web, _):
        with pytest.raises(WebError, match="not public"):
            await fetcher.fetch(f"http://inside.example:{web.port}/")
        assert web.asked == []


async def test_a_name_that_resolves_anew_to_something_private_is_no_way_in() -> None:
    """Every connection resolves once and goes to the very address that was checked. Source: DNS rebinding."""
    rebinding = {"evil.example": [LOOPBACK, "127.0.0.2"]}
    async with fetching({"/robots.txt": html("", 404), "/x": html("<p>in</p>")}, rebinding) as (
        fetcher,
        web,
        table,
    ):
        with pytest.raises(WebError, match="not public"):
            await fetcher.fetch(f"http://evil.example:{web.port}/x")
        assert web.paths() == []
        assert table.asked == ["evil.example", "evil.example"]


async def test_of_several_addresses_one_private_one_is_enough_to_refuse() -> None:
    """The connection could take any of them."""
    assert not is_public("100.64.0.1")
    assert not is_public("64:ff9b::7f00:1")
    assert not is_public("2002:7f00:1::")
    assert is_public("1.1.1.1")
    assert is_public("2606:4700:4700::1111")
    assert is_address("127.1")
    assert is_address("0x7f000001")
    assert not is_address("docs.example")


async def test_robots_are_respected() -> None:
    """A disallowed page is not asked for; a robots.txt that fails closes the site. Source: RFC 9309."""
    rules = (200, {"content-type": "text/plain"}, b"User-agent: *\nDisallow: /private")
    pages = {"/robots.txt": rules, "/private/a": html("<p>no</p>"), "/open": html("<p>yes</p>")}
    async with fetching(pages) as (fetcher, web, _):
        base = f"http://docs.example:{web.port}"
        with pytest.raises(WebError, match=r"robots\.txt"):
            await fetcher.fetch(f"{base}/private/a")
        assert (await fetcher.fetch(f"{base}/open")).text == "yes"
        assert web.paths() == ["/open"]
    async with fetching({"/robots.txt": html("", 503), "/open": html("<p>yes</p>")}) as (fetcher, web, _):
        with pytest.raises(WebError, match=r"robots\.txt"):
            await fetcher.fetch(f"http://docs.example:{web.port}/open")


async def test_size_type_and_count_are_bounded() -> None:
    """Too much is cut and marked, what is no text is refused, and a circle of redirects ends."""
    pages = {
        "/long": html("<p>" + "word " * 100_000 + "</p>"),
        "/image": (200, {"content-type": "image/png"}, b"\x89PNG"),
        "/circle": moved("/circle"),
        "/gone": html("", 410),
        "/plain": (200, {"content-type": "text/plain"}, b"a  b\n\n c"),
    }
    async with fetching(pages, max_bytes=10_000, max_characters=1_000) as (fetcher, web, _):
        base = f"http://docs.example:{web.port}"
        long = await fetcher.fetch(f"{base}/long")
        assert long.is_truncated
        assert len(long.text) <= 1_000
        assert (await fetcher.fetch(f"{base}/plain")).text == "a b\nc"
        for path, words in (("/image", "not text"), ("/circle", "redirects"), ("/gone", "410")):
            with pytest.raises(WebError, match=words):
                await fetcher.fetch(f"{base}{path}")
        for url in ("ftp://docs.example/", "http://", "http://user:pw@docs.example/", "x", "http://[::1"):
            with pytest.raises(WebError):
                await fetcher.fetch(url)
