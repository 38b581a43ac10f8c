"""The same answer as a plain program would make it: `python -m bench.naive_twin MODEL_URL SEARCH_URL`.

One call of the model that is awaited whole, then all searches at once, then the summary as it streams; no
cache, no fallback, no limits. FastAPI and google-genai as their documentation has them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import uvicorn
from fastapi import FastAPI
from google import genai
from google.genai import types
from starlette.responses import StreamingResponse

_MODEL = "gemini-3.5-flash-lite"


def create_twin(model_url: str, search_url: str) -> FastAPI:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        options = types.HttpOptions(base_url=model_url)
        app.state.model = genai.Client(api_key="bench", http_options=options)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as app.state.session:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/api/v1/indexes/demo/agentic-search")
    async def agentic_search(q: str) -> StreamingResponse:
        return StreamingResponse(answer(q), media_type="text/event-stream")

    async def search(query: str) -> Any:
        async with app.state.session.post(search_url, data=json.dumps({"q": query})) as response:
            return await response.json()

    async def answer(query: str) -> AsyncIterator[str]:
        config = types.GenerateContentConfig(response_mime_type="application/json")
        models = app.state.model.aio.models
        planned = await models.generate_content(model=_MODEL, contents=query, config=config)
        rows = json.loads(planned.text)["query_expansions"]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(search(row[0]), name=row[1]) for row in rows]
        for row, task in zip(rows, tasks, strict=True):
            yield _event({"categoryHits": [{"category": row[1], **task.result()}]})
        async for chunk in await models.generate_content_stream(model=_MODEL, contents=query):
            if chunk.text:
                yield _event({"summary": chunk.text})
        yield "event: stream-end\ndata: {}\n\n"

    return app


def _event(data: dict[str, Any]) -> str:
    return f"event: delta\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


class _Announcing(uvicorn.Server):
    """Says where it listens."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(f"twin at http://127.0.0.1:{port}/\n")
        sys.stdout.flush()


def main() -> None:
    """Serve until killed."""
    app = create_twin(sys.argv[1], sys.argv[2])
    _Announcing(uvicorn.Config(app, port=0, loop="uvloop", log_config=None, access_log=False)).run()


if __name__ == "__main__":
    main()
