"""A cross-encoder behind HTTP, on the wire that Cohere's v2 API has and others speak too.

`POST {model, query, documents, top_n}` answers `{results: [{index, relevance_score}]}`, best first. The key
travels to the address that was set and nowhere else: redirects are not followed.

Source: Cohere's API reference, v2 rerank.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from search_proxy.reranking.reranker import FailureKind, RerankFailed, RerankRequest

MAX_ANSWER_BYTES = 256_000
"""Fifty results are 3 KB; servers that send the documents back stay far below this too."""
_CONNECTIONS = 64
_LAST_RESORT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEncoderConfig:
    """Where the cross-encoder is: the whole address, such as `https://api.cohere.com/v2/rerank`."""

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)


class CrossEncoder:
    """A `Reranker` over HTTP; the caller bounds the time."""

    def __init__(self, config: CrossEncoderConfig, client: httpx.AsyncClient) -> None:
        self._config = config
        self._client = client

    async def rerank(self, request: RerankRequest) -> Sequence[str]:
        """Return ids, best first.

        Raises:
            RerankFailed: The server refused, failed, or answered something else than an order.
        """
        body = await self._asked(
            {
                "model": self._config.model,
                "query": request.query,
                "documents": [f"{each.title}\n{each.text}" for each in request.candidates],
                "top_n": len(request.candidates),
            }
        )
        ids = [candidate.id for candidate in request.candidates]
        return [ids[place] for place in _places(body, len(ids))]

    async def _asked(self, payload: dict[str, Any]) -> bytes:
        config = self._config
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if config.api_key is not None:
            headers["authorization"] = f"Bearer {config.api_key}"
        try:
            async with self._client.stream(
                "POST", config.url, content=orjson.dumps(payload), headers=headers
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise RerankFailed(
                        _refusal(response.status_code), f"the reranker answered {response.status_code}"
                    )
                return await _bounded(response)
        except httpx.TimeoutException as error:
            raise RerankFailed("timeout", "the reranker did not answer in time") from error
        except httpx.HTTPError as error:
            raise RerankFailed(
                "unavailable", f"the reranker cannot be reached: {type(error).__name__}"
            ) from error


@asynccontextmanager
async def open_cross_encoder(config: CrossEncoderConfig) -> AsyncIterator[CrossEncoder]:
    """Open a client of its own; nothing is asked before the first query."""
    limits = httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
    async with httpx.AsyncClient(
        timeout=_LAST_RESORT_SECONDS, follow_redirects=False, limits=limits
    ) as client:
        yield CrossEncoder(config, client)


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise RerankFailed("protocol", f"the reranker's answer is over {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _refusal(status: int) -> FailureKind:
    if status in (401, 403):
        return "invalid_key"
    if status == 429:
        return "rate_limited"
    return "unavailable" if status >= 500 else "protocol"


def _places(body: bytes, count: int) -> list[int]:
    """Return the places of an answer by falling score; what is no place is left out."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RerankFailed("protocol", "the reranker's answer is not JSON") from error
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise RerankFailed("protocol", "the reranker's answer has no results")
    scored = [
        (float(result["relevance_score"]), result["index"])
        for result in results
        if isinstance(result, dict)
        and type(result.get("index")) is int
        and 0 <= result["index"] < count
        and type(result.get("relevance_score")) in (int, float)
    ]
    if not scored:
        raise RerankFailed("protocol", "the reranker's answer has no usable result")
    # Equal scores keep the order that there was.
    return [place for _, place in sorted(scored, key=lambda each: (-each[0], each[1]))]
