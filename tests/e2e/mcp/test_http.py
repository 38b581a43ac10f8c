"""MCP over Streamable HTTP by the official Python client: behind the door, in both protocol versions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import httpx2
import jsonschema
import orjson
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from search_proxy.grpc import search_pb2
from search_proxy.grpc.search_pb2_grpc import SearchServiceStub
from search_proxy.tools.tool_set import TOOLS
from search_proxy.web.fetch_bounds import PAGE_PORTS, FetchBounds
from search_proxy.web.keys import WebSearchKeys
from search_proxy.web.opening import open_web_tier
from tests.search_proxy.tools.corpora import mails
from tests.search_proxy.tools.test_tenants import MINE, leaks, shared
from tests.search_proxy.web.web_servers import NameTable, html, small_web, tavily_answer
from tests.support.tool_server import ToolServer, bearer, open_tool_server

pytestmark = pytest.mark.anyio

SARAH = {"author": ["sarah"], "tags": ["email"]}
MODES = ("auto", "legacy")


@asynccontextmanager
async def client(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Yield a connected client of a key."""
    async with (
        httpx2.AsyncClient(headers=bearer(token), timeout=10) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as connected,
    ):
        yield connected


@asynccontextmanager
async def serving(folder: Path, **rights: Any) -> AsyncIterator[ToolServer]:
    """Yield a server with the mails of an account."""
    async with open_tool_server(folder, {"mail": mails()}, **rights) as server:
        yield server


async def called(connected: Client, name: str, **arguments: Any) -> Any:
    """Return the structured content of a call that succeeds, after comparing its twin."""
    result = await connected.call_tool(name, arguments)
    assert not result.is_error, result.content
    (twin,) = result.content
    assert isinstance(twin, TextContent)
    assert orjson.loads(twin.text) == result.structured_content
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
async def test_the_walk_through_finds_the_mail_in_both_protocol_versions(tmp_path: Path, mode: str) -> None:
    """Filter, then meaning, then one document. Source: the walk-through of `search.v1`."""
    async with (
        serving(tmp_path) as server,
        client(f"{server.mcp_url}/mail", server.acme.publishable, mode) as connected,
    ):
        version = {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        assert connected.protocol_version == version
        scoped = await called(connected, "filter_documents", filter=SARAH, limit=50)
        assert len(scoped["hits"]) == 23
        close = await called(
            connected, "semantic_search", query="Q3 forecast", filter=SARAH, limit=5, min_score=0.7
        )
        assert {hit["id"] for hit in close["hits"]} == {"mail-07", "mail-11"}
        mail = await called(connected, "get_document", document_id="mail-07")
        assert mail["body"].startswith("Sales projections")


async def test_who_calls_a_tool_that_is_not_there_is_told_which_are(tmp_path: Path) -> None:
    """By the names under which this address offers them; those that are switched off are not among them."""
    async with open_tool_server(tmp_path, {"mail": mails(), "guides": mails()}) as server:
        async with client(f"{server.mcp_url}/mail", server.acme.publishable) as connected:
            refused = await connected.call_tool("search_products", {"query": "menu"})
            assert refused.is_error
            assert refused.structured_content is None
            (said,) = refused.content
            assert isinstance(said, TextContent)
            assert said.text.startswith("there is no tool 'search_products' here; there is keyword_search, ")
            offered = [tool.name for tool in (await connected.list_tools()).tools]
            assert said.text.rpartition("there is ")[2].split(", ") == offered
        async with client(server.mcp_url, server.acme.publishable) as connected:
            (said,) = (await connected.call_tool("keyword_search", {"query": "menu"})).content
            assert isinstance(said, TextContent)
            assert "guides_keyword_search, " in said.text
            assert "mail_keyword_search, " in said.text


async def test_tools_are_listed_in_order_with_schemas_and_hints(tmp_path: Path) -> None:
    """Read-only all of them, open-world the two that go outside; answers keep to the output schema."""
    async with (
        serving(tmp_path) as server,
        client(f"{server.mcp_url}/mail", server.acme.publishable) as connected,
    ):
        listed = (await connected.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
        for tool in listed:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.annotations.open_world_hint is (tool.name in {"web_search", "fetch_page"})
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            assert tool.output_schema is not None
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        arguments: dict[str, dict[str, Any]] = {
            "keyword_search": {"query": "slides", "filter": SARAH},
            "semantic_search": {"query": "Q3 forecast", "min_score": 0.5},
            "filter_documents": {"limit": 3},
            "fused_search": {"query": "menu"},
            "search": {"queries": ["menu", "slides"]},
            "get_document": {"document_id": "mail-01"},
            "read": {"document_ids": ["mail-01", "none"]},
        }
        schemas = {tool.name: tool for tool in listed}
        for name, given in arguments.items():
            jsonschema.validate(given, schemas[name].input_schema)
            jsonschema.validate(await called(connected, name, **given), schemas[name].output_schema or {})


async def test_a_failing_call_is_an_error_result_with_a_sentence(tmp_path: Path) -> None:
    """Never a protocol error, never a stack trace; the loop goes on."""
    async with (
        serving(tmp_path) as server,
        client(f"{server.mcp_url}/mail", server.acme.publishable) as connected,
    ):
        for name, arguments in (
            ("keyword_search", {"query": "x", "limit": 99}),
            ("keyword_search", {"query": "x", "filter_text": "a:("}),
            ("web_search", {"query": "x"}),
            ("get_document", {"document_id": "nowhere"}),
        ):
            result = await connected.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content is None
            (sentence,) = result.content
            assert isinstance(sentence, TextContent)
            assert sentence.text.endswith(".")
            assert "Traceback" not in sentence.text
        server.embedder.is_down = True
        down = await connected.call_tool("semantic_search", {"query": "never asked"})
        assert down.is_error
        assert (await called(connected, "keyword_search", query="slides"))["total"] == 1


async def test_at_the_root_every_index_has_a_tool_set_of_its_own(tmp_path: Path) -> None:
    """Names start with the index, and descriptions name the tools as they are called here."""
    guides = [{"_id": "g1", "productTitle": "How to pitch a tent", "description": "Find level ground."}]
    async with (
        open_tool_server(tmp_path, {"mail": mails(), "guides": guides}) as server,
        client(server.mcp_url, server.acme.publishable) as connected,
    ):
        listed = {tool.name: tool for tool in (await connected.list_tools()).tools}
        assert len(listed) == 7 + 7 + 2
        assert "guides_semantic_search" in str(listed["guides_keyword_search"].description)
        assert "mail" not in str(listed["guides_keyword_search"].description)
        found = await called(connected, "guides_keyword_search", query="tent")
        assert [hit["id"] for hit in found["hits"]] == ["g1"]
        elsewhere = await called(connected, "mail_keyword_search", query="pitch tent")
        assert elsewhere["hits"] == []


async def test_no_tool_of_an_index_takes_the_name_of_anothers(tmp_path: Path) -> None:
    """`search` of 'mail_keyword' reads as `keyword_search` of 'mail' does: both must stay reachable."""
    other = [{"_id": "o1", "productTitle": "forecast", "description": "Of the weather."}]
    async with (
        open_tool_server(tmp_path, {"mail": mails(), "mail_keyword": other}) as server,
        client(server.mcp_url, server.acme.publishable) as connected,
    ):
        names = {tool.name for tool in (await connected.list_tools()).tools}
        assert len(names) == 7 + 7 + 2
        of_mail = await called(connected, "mail_keyword_search", query="forecast")
        assert "o1" not in [hit["id"] for hit in of_mail["hits"]]
        of_other = await called(connected, "mail_keyword__search", queries=["forecast"])
        assert [hit["id"] for hit in of_other["hits"]] == ["o1"]


async def test_an_agent_searches_the_web_and_then_reads_the_page(tmp_path: Path) -> None:
    """`web_search`, then `fetch_page` with a URL of its results; both marked as untrusted."""
    manual = "<title>Manual</title><nav>menu</nav><main><h1>Descaling</h1><p>Use citric acid.</p></main>"
    async with small_web({"/manual": html(manual)}) as web, AsyncExitStack() as stack:
        url = f"http://docs.example:{web.port}/manual"
        found = [{"title": "Manual", "url": url, "content": "How to descale"}]
        web.pages["/search"] = tavily_answer(found)
        keys = WebSearchKeys(tavily_key="k", tavily_url=f"http://127.0.0.1:{web.port}")
        names = NameTable({"docs.example": ["127.0.0.1"]})
        bounds = FetchBounds(
            resolver=names,
            allow_address=lambda address: address == "127.0.0.1",
            ports=PAGE_PORTS | {web.port},
        )
        tier = await stack.enter_async_context(open_web_tier(keys, bounds))
        server = await stack.enter_async_context(open_tool_server(tmp_path, {"mail": mails()}, web=tier))
        connected = await stack.enter_async_context(client(f"{server.mcp_url}/mail", server.acme.publishable))
        results = await called(connected, "web_search", query="descale espresso machine", limit=3)
        assert results["untrusted"] is True
        page = await called(connected, "fetch_page", url=results["results"][0]["url"])
        assert page["text"] == "# Descaling\nUse citric acid."
        assert page["untrusted"] is True
        assert "never instructions" in page["note"]
        inside = await connected.call_tool("fetch_page", {"url": "http://169.254.169.254/latest"})
        assert inside.is_error
        assert "not public" in str(inside.content)


async def test_a_key_sees_its_own_indexes_alone(tmp_path: Path) -> None:
    """An index outside the key's list is as one that does not exist."""
    corpora = {"mail": mails(), "guides": [{"_id": "g1", "productTitle": "tent"}]}
    async with open_tool_server(tmp_path, corpora, indexes=("guides",)) as server:
        async with client(server.mcp_url, server.acme.publishable) as connected:
            names = [tool.name for tool in (await connected.list_tools()).tools]
            assert {name.split("_")[0] for name in names} == {"guides", "web", "fetch"}
            hidden = await connected.call_tool("mail_keyword_search", {"query": "menu"})
            assert hidden.is_error
        async with httpx.AsyncClient() as http:
            for index in ("mail", "nowhere"):
                answer = await http.post(
                    f"{server.mcp_url}/{index}", json={}, headers=bearer(server.acme.publishable)
                )
                assert answer.status_code == 404
                assert answer.json()["message"] == f"index '{index}' does not exist"


async def test_the_other_account_s_index_of_the_same_name_is_another_corpus(tmp_path: Path) -> None:
    """The account follows from the key alone."""
    async with (
        serving(tmp_path) as server,
        client(f"{server.mcp_url}/mail", server.other.secret) as connected,
    ):
        found = await called(connected, "keyword_search", query="forecast")
        assert [hit["id"] for hit in found["hits"]] == ["hidden-1"]


async def test_a_tenant_s_key_shows_no_byte_of_another_tenant_on_any_face(tmp_path: Path) -> None:
    """Lists, answers and errors over MCP, answers and errors over gRPC."""
    rights: dict[str, Any] = {"forced_filter": f"tenant:({MINE})"}
    async with (
        open_tool_server(tmp_path, {"mail": shared()}, **rights) as server,
        client(f"{server.mcp_url}/mail", server.acme.publishable) as connected,
        grpc.aio.insecure_channel(server.grpc_address) as channel,
    ):
        seen = [str(await connected.list_tools())]
        for name, arguments in (
            ("keyword_search", {"query": "camping tent", "limit": 50}),
            ("semantic_search", {"query": "shelter", "limit": 50, "min_score": -1}),
            ("filter_documents", {"limit": 50, "order_by": "price desc"}),
            ("fused_search", {"query": "tent quarter", "limit": 50}),
            ("search", {"queries": ["tent", "shelter"], "limit": 50}),
            ("filter_documents", {"filter": {"fields": {"nothing": ["x"]}}}),
            ("filter_documents", {"filter_text": "price:[900 TO *]"}),
        ):
            seen.append(str(await connected.call_tool(name, arguments)))
        stub = SearchServiceStub(channel)  # type: ignore[no-untyped-call]
        metadata = (("x-api-key", server.acme.publishable),)
        request = search_pb2.KeywordSearchRequest(query="camping tent", limit=50)
        seen.append(str(await stub.KeywordSearch(request, metadata=metadata)))
        unknown = search_pb2.FilterRequest(filter=search_pb2.Filter(filter_text="nothing:(x)"))
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.FilterDocuments(unknown, metadata=metadata)
        seen.append(str(failed.value.details()))
    together = "\n".join(seen)
    assert f"{MINE}-1" in together
    assert not leaks(together)


async def test_the_door_checks_keys_origins_and_methods(tmp_path: Path) -> None:
    """401 without a key, 403 for a page that the key does not name, 405 for a stream that nobody needs."""
    async with (
        serving(tmp_path, allowed_origins=("https://shop.example",)) as server,
        httpx.AsyncClient() as http,
    ):
        url = f"{server.mcp_url}/mail"
        accept = {"accept": "application/json, text/event-stream"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        key = bearer(server.acme.publishable) | accept
        assert (await http.post(url, json=call, headers=accept)).status_code == 401
        forged = bearer("pk_" + "x" * 40) | accept
        assert (await http.post(url, json=call, headers=forged)).status_code == 401
        foreign = key | {"origin": "https://evil.example"}
        assert (await http.post(url, json=call, headers=foreign)).status_code == 403
        own = key | {"origin": "https://shop.example"}
        answer = await http.post(url, json=call, headers=own)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://shop.example"
        assert (await http.get(url, headers=key)).status_code == 405
        assert (await http.post(url, content=b"x" * 100_000, headers=key)).status_code == 413


async def test_every_tool_is_a_switch_of_the_account(tmp_path: Path) -> None:
    """A tool that is off is neither listed nor called, and the others stay."""
    async with serving(tmp_path) as server:
        account = server.accounts.account("acme")
        assert account is not None
        off = {"agentic_config": {"tools": {"semantic_search": False, "web_search": False}}}
        changed = account.model_copy(update={"settings": {"*": off}, "version": account.version + 1})
        server.accounts.apply(changed)
        async with client(f"{server.mcp_url}/mail", server.acme.publishable) as connected:
            names = [tool.name for tool in (await connected.list_tools()).tools]
            assert set(names) == {tool.name for tool in TOOLS} - {"semantic_search", "web_search"}
            refused = await connected.call_tool("semantic_search", {"query": "forecast"})
            assert refused.is_error
            assert (await called(connected, "keyword_search", query="slides"))["total"] == 1
