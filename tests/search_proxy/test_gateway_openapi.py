"""The OpenAPI document: valid, complete, and true about what needs a key."""

from __future__ import annotations

import pytest
from openapi_spec_validator import validate

from search_proxy.gateway_policy import policy_for
from tests.search_proxy.accounts.running_edge import serve_edge, shop

pytestmark = pytest.mark.anyio


async def test_the_served_document_is_valid_and_has_every_route() -> None:
    """Public, at a fixed address. Source: OpenAPI 3.1."""
    async with serve_edge(shop("acme")) as edge:
        document = (await edge.client.get("/api/v1/openapi.json")).json()
    validate(document)
    index = "/api/v1/indexes/{index}"
    assert {
        f"{index}/search",
        f"{index}/get-documents",
        f"{index}/agentic-search",
        f"{index}/agentic-search/stream",
        f"{index}/agentic-search/converse",
        f"{index}/agentic-search/chat-suggestions",
        f"{index}/agentic-search/reviews",
        f"{index}/conversations/{{conversation_id}}",
        f"{index}/jobs/{{job_id}}",
        f"{index}/runs/{{run_id}}",
        "/api/v1/admin/settings/{index}",
        "/api/v1/admin/prompts/{index}/preview",
    } <= set(document["paths"])
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == (policy_for(path).is_api and "settings-schema" not in path)
            assert operation["summary"]


async def test_what_the_document_says_needs_a_key_refuses_to_go_without() -> None:
    """Every operation, asked for real."""
    async with serve_edge(shop("acme")) as edge:
        document = (await edge.client.get("/api/v1/openapi.json")).json()
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                answer = await edge.client.request(method.upper(), path.replace("{index}", "store"))
                assert (answer.status_code == 401) == ("security" in operation), (method, path)
