"""Gemini's embeddings over real HTTP: what is sent, what is made of answers, and what failures do."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import numpy as np
import orjson
import pytest

from search_proxy.embedding.gemini_config import GeminiEmbeddingConfig
from search_proxy.embedding.gemini_embedder import (
    ATTEMPTS,
    BATCH_SIZE,
    FAILURES_TO_PAUSE,
    PAUSE_SECONDS,
    GeminiEmbedder,
)
from search_proxy.errors import SearchUnavailable
from tests.search_proxy.embedding.gemini_server import Answer, EmbeddingServer, embedding_server

_NOW: Answer = (503, {"retry-after": "0"}, b"{}")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """Return a server that embeds by length."""
    with embedding_server() as started:
        yield started


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 0."""
    return Clock()


@pytest.fixture
def embedder(server: EmbeddingServer, clock: Clock) -> Iterator[GeminiEmbedder]:
    """Return an embedder of four numbers that asks the server."""
    config = GeminiEmbeddingConfig(api_key="secret-key", base_url=server.address + "/", dimension=4)
    with httpx.Client() as client:
        yield GeminiEmbedder(config, client, clock=clock)


def _error(status: int, message: str) -> Answer:
    return status, {}, orjson.dumps({"error": {"code": status, "message": message}})


def test_products_go_in_batches_and_come_back_in_order(
    embedder: GeminiEmbedder, server: EmbeddingServer
) -> None:
    """As documents, with the dimension asked for; shortened vectors are brought back to length 1."""
    texts = ["x" * (number % 7 + 1) for number in range(BATCH_SIZE + 1)]
    vectors = embedder.embed(texts)
    lengths = np.array([len(text) for text in texts])
    assert np.allclose(vectors[:, 0] / vectors[:, 1], lengths)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert [len(requests) for _, _, requests in server.asked] == [BATCH_SIZE, 1]
    path, key, requests = server.asked[1]
    assert (path, key) == ("/v1beta/models/gemini-embedding-001:batchEmbedContents", "secret-key")
    assert requests == [
        {
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": texts[-1]}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 4,
        }
    ]


def test_a_query_is_embedded_as_one(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """The task type tells the model which side a text is on."""
    assert embedder.embed_query("tent").shape == (4,)
    assert server.asked[0][2][0]["taskType"] == "RETRIEVAL_QUERY"


def test_an_empty_text_is_sent_as_a_blank(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """The API refuses a batch for one empty part; and nothing is asked for nothing."""
    embedder.embed([""])
    assert server.asked[0][2][0]["content"] == {"parts": [{"text": " "}]}
    assert embedder.embed([]).shape == (0, 4)
    assert len(server.asked) == 1


def test_what_may_pass_is_tried_again(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """After as long as the server says; not for ever."""
    server.answers = [_NOW, _NOW]
    assert embedder.embed(["tent"]).shape == (1, 4)
    server.answers = [_NOW] * ATTEMPTS
    with pytest.raises(SearchUnavailable, match="answered 503: no JSON error in the body"):
        embedder.embed(["tent"])
    assert len(server.asked) == 3 + ATTEMPTS


def test_what_cannot_pass_is_not_tried_again(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """The model's own words are in the message; the key never is."""
    server.answers = [_error(400, "API key not valid")]
    with pytest.raises(SearchUnavailable, match="answered 400: API key not valid") as raised:
        embedder.embed(["tent"])
    assert len(server.asked) == 1
    assert "secret-key" not in str(raised.value) + repr(GeminiEmbeddingConfig(api_key="secret-key"))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"embeddings": [{"values": [1, 2]}]}', r"gave \(1, 2\) numbers, not \(1, 4\)"),
        (b'{"embeddings": [{"values": [0, 0, 0, 0]}]}', "without a direction"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_refused(
    embedder: GeminiEmbedder, server: EmbeddingServer, body: bytes, problem: str
) -> None:
    """Nothing of it reaches an index."""
    server.answers = [(200, {}, body)]
    with pytest.raises(SearchUnavailable, match=problem):
        embedder.embed(["tent"])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"embeddings": [{}]}',
        b'{"embeddings": [{"values": ["x"]}]}',
        b'{"embeddings": [{"values": [1, 2, 3, ' + b"9" * 400 + b"]}]}",
    ],
)
def test_an_answer_without_vectors_is_a_failure(
    embedder: GeminiEmbedder, server: EmbeddingServer, body: bytes
) -> None:
    """Of a query, it leaves the search to the text lane."""
    server.answers = [(200, {}, body)]
    with pytest.raises(SearchUnavailable, match="has no vectors"):
        embedder.embed_query("tent")


def test_after_failures_in_a_row_searches_stop_asking_for_a_while(
    embedder: GeminiEmbedder, server: EmbeddingServer, clock: Clock
) -> None:
    """A model that is down costs a few searches their patience, not every one."""
    server.answers = [_NOW] * FAILURES_TO_PAUSE
    for _ in range(FAILURES_TO_PAUSE):
        with pytest.raises(SearchUnavailable, match="503"):
            embedder.embed_query("tent")
    with pytest.raises(SearchUnavailable, match="left alone"):
        embedder.embed_query("tent")
    assert len(server.asked) == FAILURES_TO_PAUSE
    clock.now = PAUSE_SECONDS
    assert embedder.embed_query("tent").shape == (4,)


def test_a_server_that_is_not_there_is_told(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """By what the connection said."""
    config = GeminiEmbeddingConfig(api_key="k", base_url="http://127.0.0.1:9", dimension=4)
    with httpx.Client(trust_env=False) as client, pytest.raises(SearchUnavailable, match="cannot be reached"):
        GeminiEmbedder(config, client).embed_query("tent")


def test_stopping_ends_the_wait_between_attempts(embedder: GeminiEmbedder, server: EmbeddingServer) -> None:
    """A server that is going down does not wait for one that is down."""
    server.answers = [(503, {"retry-after": "30"}, b"{}")] * ATTEMPTS
    failed: list[SearchUnavailable] = []

    def embed() -> None:
        try:
            embedder.embed(["tent"])
        except SearchUnavailable as error:
            failed.append(error)

    thread = threading.Thread(target=embed)
    thread.start()
    embedder.stop()
    thread.join(timeout=5)
    assert not thread.is_alive()
    assert len(failed) == 1


def test_a_model_name_that_is_no_name_is_refused() -> None:
    """It would become part of a URL."""
    config = GeminiEmbeddingConfig(api_key="k", model="../secrets")
    with httpx.Client() as client, pytest.raises(ValueError, match=r"'\.\./secrets' is not letters"):
        GeminiEmbedder(config, client)
