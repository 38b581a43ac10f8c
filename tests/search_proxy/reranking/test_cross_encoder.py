"""The HTTP cross-encoder against a real server on the Cohere wire, well and badly behaved."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from starlette.responses import RedirectResponse, Response

from search_proxy.reranking.cross_encoder import MAX_ANSWER_BYTES, CrossEncoderConfig, open_cross_encoder
from search_proxy.reranking.reranker import Candidate, RerankFailed, RerankRequest, complete_order
from tests.support.scripted_reranker import Answer, last_first, results, scripted_reranker

pytestmark = pytest.mark.anyio

CANDIDATES = tuple(
    Candidate(id=name, title=f"Tent {name}", text="two people; 2 kg") for name in ("a", "b", "c", "d")
)
REQUEST = RerankRequest(account_id="demo", query="light tent", candidates=CANDIDATES)


async def _said(answer: Answer) -> Sequence[str] | RerankFailed:
    """Return the order that a server's answer makes, or its failure."""
    async with asyncio.timeout(5), scripted_reranker(answer) as server:
        config = CrossEncoderConfig(url=server.url, model="rerank-test", api_key="secret-key")
        async with open_cross_encoder(config) as encoder:
            try:
                return await encoder.rerank(REQUEST)
            except RerankFailed as failed:
                return failed


async def test_the_query_and_the_products_travel_on_the_wire_with_a_bearer_key() -> None:
    """Model, query, documents, top_n; results by index and score. Source: Cohere's API reference."""
    async with asyncio.timeout(5), scripted_reranker(last_first) as server:
        config = CrossEncoderConfig(url=server.url, model="rerank-test", api_key="secret-key")
        async with open_cross_encoder(config) as encoder:
            order = await encoder.rerank(REQUEST)
    assert order == ["d", "c", "b", "a"]
    documents = [f"Tent {name}\ntwo people; 2 kg" for name in "abcd"]
    assert server.calls == [
        {"model": "rerank-test", "query": "light tent", "documents": documents, "top_n": 4}
    ]
    assert server.headers[0]["authorization"] == "Bearer secret-key"
    assert "secret-key" not in repr(config)


async def test_without_a_key_none_is_sent() -> None:
    """A cross-encoder of one's own often has none."""
    async with (
        asyncio.timeout(5),
        scripted_reranker(last_first) as server,
        open_cross_encoder(CrossEncoderConfig(url=server.url, model="own")) as encoder,
    ):
        await encoder.rerank(REQUEST)
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("scored", "order"),
    [
        ([(2, 0.9)], "cabd"),
        ([(2, 0.9), (2, 0.1), (0, 0.5)], "cabd"),
        ([(9, 0.9), (-1, 0.8), (1, 0.7)], "bacd"),
        ([(3, 1), (True, 5.0), ("0", 4.0), (0, "high"), (None, None)], "dabc"),
        ([(1, 0.5), (0, 0.5)], "abcd"),
        ([(0, 0.1), (3, 0.9)], "dabc"),
    ],
)
async def test_unknown_missing_and_repeated_places_leave_every_product_once(
    scored: list[tuple[object, object]], order: str
) -> None:
    """What was not placed follows in the order that there was."""
    said = await _said(lambda body: results(*scored))
    assert not isinstance(said, RerankFailed)
    assert "".join(complete_order("abcd", said)) == order


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Response(status_code=500), "unavailable"),
        (Response(status_code=503), "unavailable"),
        (Response(status_code=429), "rate_limited"),
        (Response(status_code=401), "invalid_key"),
        (Response(status_code=422), "protocol"),
        (Response(b"<html>"), "protocol"),
        (Response(b"[]"), "protocol"),
        (Response(b'{"results": {}}'), "protocol"),
        (Response(b'{"results": []}'), "protocol"),
        (Response(b'{"results": ["x", 1, {"index": 7, "relevance_score": 1}]}'), "protocol"),
        (Response(b" " * (MAX_ANSWER_BYTES + 1)), "protocol"),
    ],
)
async def test_whatever_is_no_order_is_a_failure_of_a_known_kind(answer: Response, kind: str) -> None:
    """Refused, broken, empty, endless: each is said, none is an order."""
    said = await _said(lambda body: answer)
    assert isinstance(said, RerankFailed)
    assert said.kind == kind
    assert "secret-key" not in str(said)


async def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    """The key is for the address that was set. Source: security of bearer tokens, RFC 6750."""
    async with asyncio.timeout(5), scripted_reranker(last_first) as other:
        said = await _said(lambda body: RedirectResponse(other.url, status_code=307))
    assert isinstance(said, RerankFailed)
    assert other.calls == []


async def test_a_server_that_is_gone_is_unavailable() -> None:
    """Nobody listens at the address any more."""
    async with scripted_reranker(last_first) as server:
        url = server.url
    async with open_cross_encoder(CrossEncoderConfig(url=url, model="m")) as encoder:
        with pytest.raises(RerankFailed) as failed:
            await encoder.rerank(REQUEST)
    assert failed.value.kind == "unavailable"
