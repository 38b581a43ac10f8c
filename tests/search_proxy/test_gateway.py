"""The gateway's own behaviour: routes, limits, headers and the shape of refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.search_proxy.accounts.running_edge import RunningEdge, Shop, serve_edge, shop

pytestmark = pytest.mark.anyio


@pytest.fixture
def acme() -> Shop:
    """An account with keys."""
    return shop("acme", allowed_origins=("https://shop.example",))


@pytest.fixture
async def edge(acme: Shop) -> AsyncIterator[RunningEdge]:
    """A gateway with one account and one index."""
    async with serve_edge(acme) as running:
        running.backend.put("acme", "store", {"_id": "p1", "productTitle": "Red shirt", "price": 20})
        yield running


async def test_a_search_answers_hits_totals_and_the_request_id(edge: RunningEdge, acme: Shop) -> None:
    """The ecommerce search answer. Source: marqo-api, 2.1."""
    answer = await edge.client.post(
        edge.url("store", "search"),
        json={"q": "shirt"},
        headers={"x-api-key": acme.publishable, "x-request-id": "trace-0001"},
    )
    assert answer.status_code == 200
    body = answer.json()
    assert [hit["_id"] for hit in body["hits"]] == ["p1"]
    assert (body["query"], body["limit"], body["offset"], body["totalHits"]) == ("shirt", 10, 0, 1)
    assert answer.headers["x-request-id"] == "trace-0001"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


async def test_get_documents_marks_what_was_not_found(edge: RunningEdge, acme: Shop) -> None:
    """One entry per id, in order. Source: marqo-api, 2.2."""
    answer = await edge.client.post(
        edge.url("store", "get-documents"),
        json={"documentIds": ["nope", "p1"]},
        headers={"Authorization": f"Bearer {acme.publishable}"},
    )
    missing, found = answer.json()["results"]
    assert missing == {"_id": "nope", "_found": False, "status": 404, "message": "document does not exist"}
    assert found == {"_id": "p1", "productTitle": "Red shirt", "price": 20, "_found": True}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON"),
        (b"[]", "the body is a JSON list; it takes an object"),
        (b'{"q": 3}', "q is 3; it takes text of at most 2000 characters"),
        (b'{"limit": 0}', "limit is 0; it takes an integer from 1 to 1000"),
        (b'{"limit": 1001}', "limit is 1001; it takes an integer from 1 to 1000"),
        (b'{"limit": "5"}', "limit is '5'; it takes an integer from 1 to 1000"),
        (b'{"offset": 9999, "limit": 2}', "offset + limit is 10001; together they reach at most 10000"),
        (
            b'{"qq": "x"}',
            "qq is not a known field; known here: attributesToRetrieve, collapse, explain, explainHits",
        ),
        (b'{"filter": "color:("}', "filter: "),
        (
            b'{"facets": {"fields": {"c": {"type": "text"}}}}',
            "facets.fields.c.type is 'text'; it takes one of",
        ),
        (
            b'{"sortBy": {"fields": [{"order": "asc"}]}}',
            "sortBy.fields.0.fieldName is missing; it takes text",
        ),
    ],
)
async def test_bad_input_is_refused_with_a_message_that_says_what_is_right(
    edge: RunningEdge, acme: Shop, body: bytes, message: str
) -> None:
    """A 400 in the error shape, naming the field. Source: marqo-api, 2.6."""
    answer = await edge.client.post(
        edge.url("store", "search"), content=body, headers={"x-api-key": acme.publishable}
    )
    assert answer.status_code == 400
    refusal = answer.json()
    assert refusal["message"].startswith(message)
    assert (refusal["code"], refusal["type"], refusal["link"]) == (
        "invalid_argument",
        "invalid_request",
        None,
    )


async def test_a_query_of_ten_thousand_characters_is_refused(edge: RunningEdge, acme: Shop) -> None:
    """The value shown in the message is cut."""
    answer = await edge.client.post(
        edge.url("store", "search"), json={"q": "a" * 10_000}, headers={"x-api-key": acme.publishable}
    )
    assert answer.status_code == 400
    assert len(answer.json()["message"]) < 200


@pytest.mark.parametrize(
    ("action", "size", "status"),
    [
        ("search", 1025 * 1024, 413),
        ("agentic-search", 200 * 1024, 200),
        ("agentic-search", 257 * 1024, 413),
        ("agentic-search/converse", 11 * 1024 * 1024, 200),
        ("agentic-search/converse", 13 * 1024 * 1024, 413),
    ],
)
async def test_a_body_over_its_route_s_limit_is_413(
    edge: RunningEdge, acme: Shop, action: str, size: int, status: int
) -> None:
    """Each route has its own limit, and a body within it arrives whole."""
    answer = await edge.client.post(
        edge.url("store", action), content=b"x" * size, headers={"x-api-key": acme.publishable}
    )
    assert answer.status_code == status
    if status == 200:
        assert len(answer.json()["body"]) == size
    else:
        assert answer.json()["code"] == "payload_too_large"


async def test_a_body_without_a_declared_length_is_cut_off_at_the_limit(
    edge: RunningEdge, acme: Shop
) -> None:
    """Chunked bodies are counted while they arrive."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(80):
            yield b"x" * 16 * 1024

    answer = await edge.client.post(
        edge.url("store", "search"), content=chunks(), headers={"x-api-key": acme.publishable}
    )
    assert answer.status_code == 413


async def test_unknown_paths_and_methods_answer_in_the_error_shape(edge: RunningEdge, acme: Shop) -> None:
    """404 and 405 look like every other refusal."""
    headers = {"x-api-key": acme.secret}
    nothing = await edge.client.get("/api/v1/nothing", headers=headers)
    wrong_method = await edge.client.get(edge.url("store", "get-documents"), headers=headers)
    outside = await edge.client.get("/nothing")
    assert (nothing.status_code, nothing.json()["code"]) == (404, "not_found")
    assert (wrong_method.status_code, wrong_method.json()["code"]) == (405, "method_not_allowed")
    assert (outside.status_code, outside.json()["message"]) == (404, "there is nothing at this path")


async def test_an_agentic_request_reaches_the_worker_with_trusted_facts_alone(
    edge: RunningEdge, acme: Shop
) -> None:
    """The worker sees caller, settings and request id. Source: design, 3.4a."""
    answer = await edge.client.post(
        edge.url("store", "agentic-search/chat-suggestions"),
        json={"documentId": "p1"},
        headers={"x-api-key": acme.publishable},
    )
    body = answer.json()
    assert (body["account"], body["key_kind"]) == ("acme", "publishable")
    assert body["state"] == ["caller", "request_id", "settings"]
    assert body["body"] == '{"documentId":"p1"}'


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_every_method_of_a_run_is_forwarded(edge: RunningEdge, acme: Shop, method: str) -> None:
    """Reconnecting and stopping belong to the worker."""
    answer = await edge.client.request(
        method, edge.url("store", "runs/r1"), headers={"x-api-key": acme.publishable}
    )
    assert answer.json()["path"] == edge.url("store", "runs/r1")


async def test_head_of_a_stream_answers_without_starting_it(edge: RunningEdge, acme: Shop) -> None:
    """A HEAD must never cost a model call."""
    headers = {"x-api-key": acme.publishable}
    stream = await edge.client.head(edge.url("store", "agentic-search?q=x"), headers=headers)
    assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream")
    assert "content-length" not in stream.headers
    suggestions = await edge.client.head(
        edge.url("store", "agentic-search/chat-suggestions"), headers=headers
    )
    assert suggestions.status_code == 405
    assert (await edge.client.head("/livez")).status_code == 200


async def test_options_names_the_methods_of_a_path(edge: RunningEdge) -> None:
    """No key is needed to ask."""
    answer = await edge.client.options(edge.url("store", "get-documents"))
    assert (answer.status_code, answer.headers["allow"]) == (204, "POST, OPTIONS")


async def test_a_failure_of_ours_is_a_500_that_says_nothing_of_the_inside(
    acme: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has the exception, the client has the request id."""

    class Broken:
        async def fetch(self, scope: object, receive: object, send: object) -> None:
            raise RuntimeError("the inside")

    async with serve_edge(acme, agentic=Broken()) as running:
        running.backend.put("acme", "store", {"_id": "p1"})
        answer = await running.client.get(
            running.url("store", "agentic-search"), headers={"x-api-key": acme.publishable}
        )
    assert answer.status_code == 500
    assert answer.json() == {
        "message": "the request could not be answered",
        "code": "internal",
        "type": "internal",
        "link": None,
    }
    assert "the inside" in caplog.text


async def test_too_many_headers_are_431(edge: RunningEdge, acme: Shop) -> None:
    """What is read of a request is bounded everywhere."""
    headers = {"x-api-key": acme.publishable} | {f"x-{n}": "y" * 1000 for n in range(40)}
    answer = await edge.client.get(edge.url("store", "agentic-search"), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (431, "headers_too_large")
