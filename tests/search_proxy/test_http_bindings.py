"""The two bindings over HTTP: the same answers as in process, streamed, and only between parts of ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from search_proxy.caller import Caller
from search_proxy.errors import (
    AccessDenied,
    IndexNotFound,
    SearchError,
    SearchTimeout,
    SearchUnavailable,
    UnknownField,
)
from search_proxy.filters import parse_filter
from search_proxy.http_agentic import HttpAgenticBinding, SignedAgenticWorker
from search_proxy.http_facts import FACTS_HEADER, SIGNATURE_HEADER, Facts, FactsSigner
from search_proxy.http_search import HttpSearchBinding, search_rpc_router
from search_proxy.models import (
    FacetField,
    FacetRange,
    FacetsRequest,
    IndexDescription,
    SearchRequest,
    SearchResult,
    SortField,
)
from search_proxy.proxy import SearchProxy
from tests.search_proxy.accounts.running_edge import (
    EchoWorker,
    RunningEdge,
    Shop,
    serve_app,
    serve_edge,
    shop,
)
from tests.search_proxy.accounts.shelf_backend import ShelfBackend

pytestmark = pytest.mark.anyio

_SHARED = "a key that both sides hold and nobody else"
_FORCED = parse_filter("price:[* TO 50]")
_CALLER = Caller(
    account_id="acme", key_kind="publishable", key_id="k", forced_filter=_FORCED, request_id="r1"
)


@asynccontextmanager
async def two_processes(worker: Any, acme: Shop) -> AsyncIterator[tuple[RunningEdge, httpx.AsyncClient]]:
    """Serve a worker behind one socket and a gateway that reaches it over HTTP."""
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(serve_app(SignedAgenticWorker(worker, FactsSigner(_SHARED))))
        to_worker = await stack.enter_async_context(httpx.AsyncClient())
        binding = HttpAgenticBinding(to_worker, str(direct.base_url), FactsSigner(_SHARED))
        edge = await stack.enter_async_context(serve_edge(acme, agentic=binding))
        edge.backend.put("acme", "store", {"_id": "p1"})
        yield edge, direct


class AsApp:
    """A binding as an ASGI application."""

    def __init__(self, fetch: Any) -> None:
        self._fetch = fetch

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer HTTP; ignore the lifespan."""
        if scope["type"] == "http":
            await self._fetch(scope, receive, send)


async def test_the_worker_behind_http_sees_what_it_would_see_in_process() -> None:
    """Caller, settings, path and body arrive whole. Source: design, 3.4a."""
    acme = shop("acme", forced_filter="color:(red\\)) AND price:[1 TO *]", groups=("gold",))
    answers = []
    async with two_processes(AsApp(EchoWorker().fetch), acme) as (edge, _), serve_edge(acme) as local:
        local.backend.put("acme", "store", {"_id": "p1"})
        for one in (edge, local):
            answer = await one.client.post(
                one.url("store", "agentic-search/converse"),
                json={"q": "warm"},
                headers={"x-api-key": acme.publishable, "x-aisle-facts": "forged"},
            )
            answers.append(answer.json())
    over_http, in_process = answers
    assert over_http == in_process
    assert over_http["groups"] == ["gold"]
    assert parse_filter(over_http["filter"]) == parse_filter("color:(red\\)) AND price:[1 TO *]")


async def test_a_stream_is_passed_on_while_the_worker_still_writes() -> None:
    """The first event is read before the gate to the second is opened."""
    gate = asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"event: init\n\n", "more_body": True})
        await gate.wait()
        await send({"type": "http.response.body", "body": b"event: stream-end\n\n"})

    acme = shop("acme")
    async with two_processes(AsApp(stream), acme) as (edge, _), asyncio.timeout(5):
        path = edge.url("store", "agentic-search?q=warm")
        async with (
            httpx.AsyncClient(base_url=edge.client.base_url) as client,
            client.stream("GET", path, headers={"x-api-key": acme.publishable}) as response,
        ):
            chunks = response.aiter_text()
            assert await anext(chunks) == "event: init\n\n"
            gate.set()
            assert await anext(chunks) == "event: stream-end\n\n"


async def test_when_the_shopper_leaves_the_worker_sees_it() -> None:
    """The request between the two processes ends with the one from outside."""
    left = asyncio.Event()

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            continue
        left.set()

    acme = shop("acme")
    async with two_processes(AsApp(stream), acme) as (edge, _), asyncio.timeout(5):
        path = edge.url("store", "agentic-search?q=warm")
        async with httpx.AsyncClient(base_url=edge.client.base_url) as client:
            async with client.stream("GET", path, headers={"x-api-key": acme.publishable}) as response:
                assert await anext(response.aiter_bytes()) == b"x"
            await left.wait()


@pytest.mark.parametrize(
    ("action", "event"), [("agentic-search", "delta"), ("agentic-search/converse", "error")]
)
async def test_a_stream_that_is_cut_off_still_ends_with_stream_end(action: str, event: str) -> None:
    """After the first byte an error is an event. Source: design, 3.5."""

    async def stream(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"event: init\ndata: {}\n\n", "more_body": True})
        raise ConnectionError("the process died")

    acme = shop("acme")
    async with two_processes(AsApp(stream), acme) as (edge, _):
        answer = await edge.client.get(edge.url("store", action), headers={"x-api-key": acme.publishable})
    names = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event")]
    assert names == ["init", event, "stream-end"]
    assert '"code":"upstream_failed"' in answer.text


async def test_a_worker_that_cannot_be_reached_is_502() -> None:
    """In the error shape, before the first byte."""
    acme = shop("acme")
    async with httpx.AsyncClient() as client:
        binding = HttpAgenticBinding(client, "http://127.0.0.1:1", FactsSigner(_SHARED))
        async with serve_edge(acme, agentic=binding) as edge:
            edge.backend.put("acme", "store", {"_id": "p1"})
            answer = await edge.client.get(
                edge.url("store", "agentic-search"), headers={"x-api-key": acme.publishable}
            )
    assert (answer.status_code, answer.json()["code"]) == (502, "upstream_failed")


async def test_a_worker_answers_nothing_that_the_gateway_has_not_signed() -> None:
    """No facts, facts of another request, other facts, an old signature, another key."""
    clock = [1_000.0]
    signer = FactsSigner(_SHARED, now=lambda: clock[0])
    path = "/api/v1/indexes/store/agentic-search"
    app = SignedAgenticWorker(AsApp(EchoWorker().fetch), FactsSigner(_SHARED, now=lambda: 1_000.0))
    facts = Facts(caller=_CALLER)
    good = signer.headers(facts, "DELETE", path)
    rival = signer.headers(Facts(caller=Caller(account_id="rival", key_kind="secret")), "DELETE", path)
    clock[0] = 960.0
    old = signer.headers(facts, "DELETE", path)
    foreign = FactsSigner("x" * 40, now=lambda: 1_000.0).headers(facts, "DELETE", path)
    async with serve_app(app) as client:
        for headers in (
            {},
            {**good, FACTS_HEADER: rival[FACTS_HEADER]},
            {**good, SIGNATURE_HEADER: "é"},
            old,
            foreign,
        ):
            encoded = {name: value.encode("latin-1") for name, value in headers.items()}
            answer = await client.request("DELETE", path, headers=encoded)  # type: ignore[arg-type]
            assert answer.status_code == 401
        assert (await client.request("DELETE", f"{path}?x=1", headers=good)).status_code == 401
        assert (await client.request("GET", path, headers=good)).status_code == 401
    with pytest.raises(ValueError, match="at least 32"):
        FactsSigner("short")


@asynccontextmanager
async def product_side(search: Any) -> AsyncIterator[HttpSearchBinding]:
    """Serve the product side and reach it over HTTP."""
    app = FastAPI(strict_content_type=False)
    app.include_router(search_rpc_router(search, FactsSigner(_SHARED)))
    async with serve_app(app) as served, httpx.AsyncClient() as client:
        yield HttpSearchBinding(client, str(served.base_url), FactsSigner(_SHARED))


async def test_the_product_side_behind_http_answers_as_in_process() -> None:
    """Forced filter, documents and description, value by value."""
    backend = ShelfBackend()
    for number, price in enumerate((20, 90)):
        backend.put("acme", "store", {"_id": f"p{number}", "productTitle": "shirt", "price": price})
    local = SearchProxy(backend)
    request = SearchRequest(
        index="store",
        q="shirt",
        limit=5,
        filter=parse_filter("NOT _id:(p9) AND price:[1 TO 100]"),
        attributes_to_retrieve=("_id",),
        facets=FacetsRequest(
            fields=(FacetField(name="price", kind="number", ranges=(FacetRange(start=1, end=2, name="x"),)),)
        ),
        sort_by=(SortField(name="price", order="asc"),),
    )
    async with product_side(local) as remote:
        found = await remote.handle_search(_CALLER, request)
        assert found == await local.handle_search(_CALLER, request)
        assert [hit["_id"] for hit in found.hits] == ["p0"]
        ids = ("p0", "p1", "p9")
        assert await remote.get_documents(_CALLER, "store", ids) == await local.get_documents(
            _CALLER, "store", ids
        )
        assert await remote.describe_index(_CALLER, "store") == await local.describe_index(_CALLER, "store")


async def test_a_search_request_arrives_as_it_was_sent() -> None:
    """Every field of it."""
    seen: list[SearchRequest] = []

    class Recording:
        async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
            seen.append(request)
            return SearchResult(
                hits=(), total_hits=0, facets={}, query=None, limit=1, offset=0, processing_time_ms=1.0
            )

    sent = SearchRequest(
        index="store",
        q=None,
        limit=7,
        offset=3,
        filter=parse_filter("a:(b\\)) OR c IN ((d e), f)"),
        facets=FacetsRequest(fields=(FacetField(name="c", exclude_terms=("c:d",)),), order="asc"),
        sort_by=(SortField(name="n", missing="first"),),
        collapse=False,
        explain=True,
    )
    async with product_side(Recording()) as remote:
        await remote.handle_search(_CALLER, sent)
    assert seen == [sent]


@pytest.mark.parametrize(
    "error",
    [
        IndexNotFound("store"),
        UnknownField("colour", ["color"]),
        AccessDenied("not yours"),
        SearchTimeout("slow"),
        SearchUnavailable("down"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_error_of_the_product_side_is_raised_as_itself(error: SearchError) -> None:
    """Class and message survive the way."""

    class Failing:
        async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
            raise error

    async with product_side(Failing()) as remote:
        with pytest.raises(type(error)) as raised:
            await remote.describe_index(_CALLER, "store")
    assert type(raised.value) is type(error)
    assert str(raised.value) == str(error)


async def test_a_product_side_that_cannot_be_reached_is_unavailable() -> None:
    """The worker degrades as it would for an engine that is down."""
    async with httpx.AsyncClient() as client:
        remote = HttpSearchBinding(client, "http://127.0.0.1:1", FactsSigner(_SHARED))
        with pytest.raises(SearchUnavailable, match="cannot be reached"):
            await remote.describe_index(_CALLER, "store")
