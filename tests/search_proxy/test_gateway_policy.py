"""The rules of paths: closed unless opened, and the same door for every face."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import APIRouter, Request

from search_proxy.edge_services import EdgeServices
from search_proxy.gateway import create_gateway
from search_proxy.gateway_policy import PathPolicy, policy_for
from tests.search_proxy.accounts.running_edge import serve_edge, shop

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("path", "access"),
    [
        ("/", "public"),
        ("/livez", "public"),
        ("/api/v1/openapi.json", "public"),
        ("/api/v1/admin/settings-schema", "public"),
        ("/api/v1/indexes/store/search", "read"),
        ("/api/v1/indexes/store/agentic-search", "read"),
        ("/api/v1/indexes/store/agentic-search/converse", "read"),
        ("/api/v1/indexes/store/runs/r1", "read"),
        ("/api/v1/indexes/store/agentic-search/reviews", "secret"),
        ("/api/v1/indexes/store/conversations", "secret"),
        ("/api/v1/indexes/store/conversations/c1", "read"),
        ("/api/v1/indexes/store/jobs", "secret"),
        ("/api/v1/indexes/store/jobs/j1", "secret"),
        ("/api/v1/indexes/store/jobs/documents-1", "secret"),
        ("/api/v1/indexes/store/documents", "secret"),
        ("/api/v1/indexes/store/collections", "read"),
        ("/api/v1/indexes/store/recommendations/queries", "read"),
        ("/api/v1/indexes/store/search/", "secret"),
        ("/api/v1/indexes/store/Search", "secret"),
        ("/api/v1/indexes/store", "secret"),
        ("/api/v1/admin/account", "secret"),
        ("/api/v1/admin/settings-schema/x", "secret"),
        ("/api/v2/anything", "secret"),
        ("/api//v1/indexes/store/search", "secret"),
    ],
)
def test_a_path_is_closed_unless_it_is_listed(path: str, access: str) -> None:
    """A route that somebody adds under `/api/` needs a secret key."""
    assert policy_for(path).access == access


async def test_another_face_passes_the_same_door() -> None:
    """A path outside `/api/` with a policy has key check, limits and CORS like the rest."""
    router = APIRouter()

    @router.post("/1/indexes/{index}/query")
    async def query(index: str, request: Request) -> dict[str, str]:
        return {"account": request.state.caller.account_id, "index": index}

    @router.get("/page")
    async def page() -> dict[str, str]:
        return {"page": "open"}

    def policy(path: str) -> PathPolicy | None:
        if not path.startswith("/1/indexes/"):
            return None
        return PathPolicy(access="read", index=path.split("/")[3], body_bytes=10)

    def gateway(open_edge: object) -> object:
        @asynccontextmanager
        async def opened() -> AsyncIterator[EdgeServices]:
            async with open_edge() as edge:  # type: ignore[operator]
                yield edge

        return create_gateway(opened, extra_routers=[router], extra_policies=[policy])

    acme = shop("acme", allowed_origins=("https://shop.example",), indexes=("store",))
    async with serve_edge(acme, gateway=gateway) as edge:
        path, key = "/1/indexes/store/query", {"x-api-key": acme.publishable}
        assert (await edge.client.post(path)).status_code == 401
        answer = await edge.client.post(path, headers=key | {"Origin": "https://shop.example"})
        assert answer.json() == {"account": "acme", "index": "store"}
        assert answer.headers["access-control-allow-origin"] == "https://shop.example"
        assert (await edge.client.post("/1/indexes/other/query", headers=key)).status_code == 404
        assert (await edge.client.post(path, headers=key, content=b"x" * 11)).status_code == 413
        page_answer = await edge.client.get("/page")
        assert page_answer.json() == {"page": "open"}
        assert page_answer.headers["x-frame-options"] == "SAMEORIGIN"
        assert "access-control-allow-origin" not in page_answer.headers
