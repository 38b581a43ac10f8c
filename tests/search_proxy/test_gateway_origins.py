"""Browsers: exact origins, preflights, and nothing for a page that is not on a key's list."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.search_proxy.accounts.running_edge import RunningEdge, Shop, serve_edge, shop

pytestmark = pytest.mark.anyio

_SHOP = "https://shop.example"


@pytest.fixture
def acme() -> Shop:
    """An account whose publishable key works from one origin."""
    return shop("acme", allowed_origins=(_SHOP,))


@pytest.fixture
def rival() -> Shop:
    """An account without any allowed origin."""
    return shop("rival")


@pytest.fixture
async def edge(acme: Shop, rival: Shop) -> AsyncIterator[RunningEdge]:
    """A gateway with both accounts."""
    async with serve_edge(acme, rival) as running:
        for account_id in ("acme", "rival"):
            running.backend.put(account_id, "store", {"_id": "p1", "productTitle": "shirt"})
        yield running


async def _search(edge: RunningEdge, token: str, origin: str, **headers: str) -> httpx.Response:
    return await edge.client.post(
        edge.url("store", "search"),
        json={"q": "shirt"},
        headers={"x-api-key": token, "Origin": origin} | headers,
    )


async def test_an_allowed_origin_is_answered_by_name_and_never_with_credentials(
    edge: RunningEdge, acme: Shop
) -> None:
    """Exact origin, `Vary: Origin`. Source: the Fetch standard, CORS protocol."""
    answer = await _search(edge, acme.publishable, _SHOP)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == _SHOP
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers
    assert "x-request-id" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://shop.example.evil.example",
        "https://evilshop.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://SHOP.example",
        "null",
        "",
        "*",
    ],
)
async def test_any_other_origin_is_refused_without_a_cors_header(
    edge: RunningEdge, acme: Shop, origin: str
) -> None:
    """Prefixes, suffixes, schemes and ports all count."""
    answer = await _search(edge, acme.publishable, origin)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "access-control-allow-origin" not in answer.headers


async def test_an_empty_origin_list_refuses_every_browser(edge: RunningEdge, rival: Shop) -> None:
    """Algolia allows all with an empty list; here none. Source: storefront-protocols, 6."""
    assert (await _search(edge, rival.publishable, _SHOP)).status_code == 403
    server = await edge.client.post(
        edge.url("store", "search"), json={"q": "shirt"}, headers={"x-api-key": rival.publishable}
    )
    assert server.status_code == 200


async def test_a_secret_key_is_refused_from_a_foreign_page(edge: RunningEdge, acme: Shop) -> None:
    """A secret key in a storefront's page is a mistake that must not work."""
    assert (await _search(edge, acme.secret, _SHOP)).status_code == 403


async def test_our_own_pages_may_use_any_key(edge: RunningEdge, acme: Shop) -> None:
    """The console that this server serves is of the same origin."""
    own = str(edge.client.base_url).rstrip("/")
    answer = await _search(edge, acme.secret, own)
    assert answer.status_code == 200


async def test_the_origin_check_holds_for_a_stream_without_preflight(edge: RunningEdge, acme: Shop) -> None:
    """An `EventSource` sends no preflight."""
    path = edge.url("store", "agentic-search")
    for origin, status in ((_SHOP, 200), ("https://evil.example", 403)):
        answer = await edge.client.get(path, headers={"x-api-key": acme.publishable, "Origin": origin})
        assert answer.status_code == status


async def test_a_preflight_of_a_known_origin_is_answered_without_a_key(edge: RunningEdge) -> None:
    """Browsers send none with it."""
    answer = await edge.client.options(
        edge.url("store", "agentic-search"),
        headers={
            "Origin": _SHOP,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-api-key",
        },
    )
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == _SHOP
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "x-api-key" in answer.headers["access-control-allow-headers"]
    assert answer.headers["vary"] == "Origin"


async def test_a_preflight_of_an_unknown_origin_is_refused(edge: RunningEdge) -> None:
    """Also for a path that does not exist."""
    for path in (edge.url("store", "search"), "/api/v1/nothing"):
        answer = await edge.client.options(
            path, headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        )
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


async def test_an_origin_known_for_one_account_does_not_open_another(edge: RunningEdge, rival: Shop) -> None:
    """The preflight passes, the request with the other account's key does not."""
    assert (await _search(edge, rival.publishable, _SHOP)).status_code == 403


async def test_a_refusal_to_a_known_origin_can_be_read_by_its_page(edge: RunningEdge) -> None:
    """A storefront's developer sees the 401 instead of a network error."""
    answer = await _search(edge, "pk_wrong", _SHOP)
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == _SHOP


async def test_demo_mode_admits_pages_of_this_machine_only() -> None:
    """A site on the internet must not drive a demo that runs on a developer's machine."""
    async with serve_edge(demo=True) as edge:
        edge.backend.put("demo", "store", {"_id": "d1", "productTitle": "shirt"})
        for origin, status in (
            ("http://localhost:5173", 200),
            ("http://127.0.0.1:3000", 200),
            ("https://evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("null", 403),
        ):
            answer = await edge.client.post(edge.url("store", "search"), json={}, headers={"Origin": origin})
            assert answer.status_code == status, origin
