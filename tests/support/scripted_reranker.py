"""A cross-encoder's server on the Cohere wire whose every answer a test decides."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.support.live_server import live_server
from tests.support.scripted_gemini import Gate

Answer = Callable[[dict[str, Any]], Response]


@dataclass(slots=True)
class ScriptedReranker:
    """What it was asked and what it answers; `gate` holds every answer until it opens, `wait` a while."""

    url: str = ""
    answer: Answer = lambda body: Response(status_code=500)
    gate: Gate | None = None
    wait: Callable[[], Awaitable[None]] | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def take(self, request: Request) -> Response:
        """Answer one call."""
        body = orjson.loads(await request.body())
        self.calls.append(body)
        self.headers.append(dict(request.headers))
        if self.wait is not None:
            await self.wait()
        if self.gate is not None:
            await self.gate.pass_through()
        return self.answer(body)


@asynccontextmanager
async def scripted_reranker(answer: Answer) -> AsyncIterator[ScriptedReranker]:
    """Serve `answer` at `/v2/rerank`."""
    reranker = ScriptedReranker(answer=answer)
    app = Starlette(routes=[Route("/v2/rerank", reranker.take, methods=["POST"])])
    async with live_server(app) as base_url:
        reranker.url = f"{base_url}/v2/rerank"
        yield reranker


def results(*scored: tuple[Any, Any]) -> Response:
    """Answer with these `(index, relevance_score)` pairs."""
    rows = [{"index": index, "relevance_score": score} for index, score in scored]
    return Response(orjson.dumps({"id": "r", "results": rows}), media_type="application/json")


def last_first(body: dict[str, Any]) -> Response:
    """Answer with the reverse of the order that was given."""
    return results(*((place, place / 100) for place in range(len(body["documents"]))))
