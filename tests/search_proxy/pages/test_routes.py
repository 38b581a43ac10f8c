"""How the page, its modules and the pictures are served."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from importlib.resources import files

import httpx
import pytest
from fastapi import FastAPI

from search_proxy.pages.routes import page_router
from search_proxy.sample_store import load_sample

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Return a client of an application that has the page's routes alone."""
    app = FastAPI(openapi_url=None)
    app.include_router(page_router())
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as opened:
        yield opened


@pytest.mark.parametrize("page", ["/", "/ops"])
async def test_a_page_allows_only_what_comes_from_the_shop_itself(
    client: httpx.AsyncClient, page: str
) -> None:
    """No inline script, no inline style, no other host, no text made into HTML. Source: CSP 3."""
    response = await client.get(page)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"


async def test_everything_that_the_pages_name_is_served_with_its_type(client: httpx.AsyncClient) -> None:
    """Every link, script and import of the pages and their modules leads to a file."""
    types = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    page = (await client.get("/")).text + (await client.get("/ops")).text
    wanted = set(re.findall(r'(?:href|src)="(/assets/[^"]+)"', page))
    for entry in files("search_proxy.pages").iterdir():
        if entry.name.endswith(".js"):
            found = re.findall(r'from "\./([\w.]+)"', entry.read_text(encoding="utf-8"))
            wanted |= {f"/assets/{name}" for name in found}
    assert len(wanted) > 10
    for path in wanted:
        response = await client.get(path)
        assert response.status_code == 200, path
        expected = types[path.rpartition(".")[2]]
        assert response.headers["content-type"] == f"{expected}; charset=utf-8"
        assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/ops", "/assets/app.js", "/images/sample/tent-001-1.svg"])
async def test_an_unchanged_file_is_answered_with_304_and_no_body(
    client: httpx.AsyncClient, path: str
) -> None:
    """A browser that has the file gets only its tag. Source: RFC 9110, 13.1.2."""
    first = await client.get(path)
    for tags in (first.headers["etag"], f'"other", W/{first.headers["etag"]}'):
        again = await client.get(path, headers={"if-none-match": tags})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    changed = await client.get(path, headers={"if-none-match": '"other"'})
    assert changed.content == first.content


@pytest.mark.parametrize(
    "path",
    [
        "/assets/",
        "/assets/routes.py",
        "/assets/__init__.py",
        "/assets/../routes.py",
        "/assets/%2e%2e/routes.py",
        "/assets/..%2f..%2f..%2fpyproject.toml",
        "/assets/index.html",
        "/assets/ops.html",
        "/assets/app.js/",
        "/images/sample/nothing-1.svg",
        "/images/sample/..%2fapp.svg",
    ],
)
async def test_only_shipped_files_and_known_pictures_are_served(client: httpx.AsyncClient, path: str) -> None:
    """No path leads out of the folder, and source files are not pages."""
    assert (await client.get(path)).status_code == 404


async def test_a_picture_is_drawn_for_every_variant_and_can_be_kept(client: httpx.AsyncClient) -> None:
    """The address in a document is the address of its picture, which may run nothing."""
    document = load_sample()[7]
    response = await client.get(document["variantImageUrl"])
    assert response.status_code == 200
    assert response.headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=86400"
    assert response.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert response.text.startswith("<svg ")


@pytest.mark.parametrize(
    ("accepted", "gzipped"), [("gzip, br", True), ("br", False), ("gzip;q=0, br", False)]
)
async def test_a_file_is_compressed_for_whoever_takes_it(
    client: httpx.AsyncClient, accepted: str, gzipped: bool
) -> None:
    """Both forms have the same text, their own tags, and say what they vary by. Source: RFC 9110, 8.8.3."""
    plain = await client.get("/assets/app.css", headers={"accept-encoding": "identity"})
    found = await client.get("/assets/app.css", headers={"accept-encoding": accepted})
    assert found.text == plain.text
    assert ("content-encoding" in found.headers) is gzipped
    assert (found.headers["etag"] != plain.headers["etag"]) is gzipped
    assert found.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    tag = {"accept-encoding": accepted, "if-none-match": found.headers["etag"]}
    assert (await client.get("/assets/app.css", headers=tag)).status_code == 304


async def test_a_head_request_has_the_headers_and_no_body(client: httpx.AsyncClient) -> None:
    """A monitor may look without fetching."""
    response = await client.head("/")
    assert (response.status_code, response.content) == (200, b"")


async def test_a_shops_own_picture_hosts_are_allowed_by_name() -> None:
    """Pictures may come from the hosts that the shop names, scripts from none of them."""
    app = FastAPI(openapi_url=None)
    app.include_router(page_router(image_sources=["https://cdn.example.com"]))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop") as client:
        policy = (await client.get("/")).headers["content-security-policy"]
    assert "img-src 'self' https://cdn.example.com;" in policy
    assert "script-src 'self';" in policy


@pytest.mark.parametrize("source", ["*", "http://cdn.example.com", "https://a; script-src *", "https://a b"])
def test_a_picture_source_that_would_change_the_policy_is_refused(source: str) -> None:
    """A setting cannot smuggle another directive in."""
    with pytest.raises(ValueError, match="an image source is https"):
        page_router(image_sources=[source])
