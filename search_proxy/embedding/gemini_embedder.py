"""Embeds with Gemini over REST: products in batches, queries one at a time and only if that is quick.

Queries and products get the task types meant for them. After some queries in a row that failed, searches
stop asking for a while, so that a model that is down does not slow every search.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from search_proxy.embedding.gemini_config import GeminiEmbeddingConfig
from search_proxy.errors import SearchUnavailable

BATCH_SIZE = 100
"""The most that one call of the API takes."""

ATTEMPTS = 5
FAILURES_TO_PAUSE = 3
PAUSE_SECONDS = 15.0

_MODEL_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_MESSAGE_LIMIT = 300
_LONGEST_WAIT_SECONDS = 30.0

Array = npt.NDArray[np.float32]


class GeminiEmbedder:
    """Gemini's embeddings; `model` and `dimension` are what an index is stored with."""

    def __init__(
        self,
        config: GeminiEmbeddingConfig,
        client: httpx.Client,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not _MODEL_NAME.fullmatch(config.model):
            raise ValueError(f"model name {config.model!r} is not letters, digits, '.', '_' and '-'")
        self._config = config
        self._client = client
        self._stopping = threading.Event()
        self._clock = clock
        self._failures = 0
        self._asks_again_at = -np.inf

    @property
    def model(self) -> str:
        """Return the model's name."""
        return self._config.model

    @property
    def dimension(self) -> int:
        """Return how many numbers a vector has."""
        return self._config.dimension

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one row per text; asks again, as long as the server advises, where that can help.

        Raises:
            SearchUnavailable: The model refused, or went on failing.
        """
        parts = [texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE)]
        rows = [self._patiently(part) for part in parts]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def embed_query(self, query: str) -> Array:
        """Return the vector of a query, asked for once.

        Raises:
            SearchUnavailable: The model did not answer in time, or is being left alone for a while.
        """
        if self._clock() < self._asks_again_at:
            raise SearchUnavailable("the embedding model failed lately and is left alone for a while")
        try:
            rows = self._asked([query], "RETRIEVAL_QUERY", self._config.query_seconds)
        except _Failure as failure:
            self._failures += 1
            if self._failures >= FAILURES_TO_PAUSE:
                self._asks_again_at = self._clock() + PAUSE_SECONDS
            raise SearchUnavailable(str(failure)) from failure
        self._failures = 0
        vector: Array = rows[0]
        return vector

    def stop(self) -> None:
        """Let `embed` end after the call in hand, from any thread: nothing is asked or waited for again."""
        self._stopping.set()

    def _patiently(self, texts: Sequence[str]) -> Array:
        for attempt in range(1, ATTEMPTS + 1):
            if self._stopping.is_set():
                raise SearchUnavailable("the embedder is being closed")
            try:
                return self._asked(texts, "RETRIEVAL_DOCUMENT", self._config.batch_seconds)
            except _Failure as failure:
                advised = failure.wait_seconds
                wait = min(2.0**attempt / 2 if advised is None else advised, _LONGEST_WAIT_SECONDS)
                if not failure.is_passing or attempt == ATTEMPTS or self._stopping.wait(wait):
                    raise SearchUnavailable(str(failure)) from failure
        raise AssertionError("the last attempt returns or raises")

    def _asked(self, texts: Sequence[str], task: str, seconds: float) -> Array:
        config = self._config
        name = f"models/{config.model}"
        requests = [
            {
                "model": name,
                "content": {"parts": [{"text": text or " "}]},
                "taskType": task,
                "outputDimensionality": config.dimension,
            }
            for text in texts
        ]
        url = f"{config.base_url.rstrip('/')}/{config.api_version}/{name}:batchEmbedContents"
        headers = {"x-goog-api-key": config.api_key}
        try:
            response = self._client.post(url, json={"requests": requests}, headers=headers, timeout=seconds)
            body = response.json()
        except httpx.HTTPError as error:
            raise _Failure(
                f"the embedding model cannot be reached: {error or type(error).__name__}"
            ) from error
        except ValueError:
            body = None
        if response.status_code != httpx.codes.OK:
            raise _refusal(response, body)
        return _unit_rows(body, len(texts), config.dimension)


@contextmanager
def open_gemini_embedder(config: GeminiEmbeddingConfig) -> Iterator[GeminiEmbedder]:
    """Open a client of its own for the embedder."""
    with httpx.Client(trust_env=False) as client:
        yield GeminiEmbedder(config, client)


class _Failure(Exception):
    def __init__(self, message: str, *, is_passing: bool = True, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.is_passing = is_passing
        self.wait_seconds = wait_seconds


def _refusal(response: httpx.Response, body: Any) -> _Failure:
    status = response.status_code
    error = body.get("error") if isinstance(body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else None
    said = str(message)[:_MESSAGE_LIMIT] if message else "no JSON error in the body"
    advised = response.headers.get("retry-after", "")
    return _Failure(
        f"the embedding model answered {status}: {said}",
        is_passing=status in {408, 429} or status >= 500,
        wait_seconds=float(advised) if advised.isascii() and advised.isdecimal() else None,
    )


def _unit_rows(body: Any, count: int, dimension: int) -> Array:
    """Return the vectors of an answer at length 1, which shortened ones do not have by themselves."""
    try:
        rows = np.array([each["values"] for each in body["embeddings"]], np.float32)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _Failure("the embedding model's answer has no vectors") from error
    if rows.shape != (count, dimension):
        raise _Failure(
            f"the embedding model gave {rows.shape} numbers, not {(count, dimension)}", is_passing=False
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise _Failure("the embedding model gave a vector without a direction", is_passing=False)
    unit: Array = rows / lengths
    return unit
