"""A shop server whose agentic streams are written by the test, one event at a time.

The page and its pictures come from the product's own router; `search` and `get-documents` answer from a few
products. Each request for a stream opens a `ScriptedRun`, which the test then feeds.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from search_proxy.pages.routes import page_router
from search_proxy.sample_store import load_sample

WAIT_SECONDS = 15.0


class ScriptedRun:
    """One stream: what the test sends, the page gets, at once and in order."""

    def __init__(self, number: int, parameters: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.id = f"run{number}"
        self.parameters = parameters
        self.readers = 0
        self._loop = loop
        self._log: list[bytes] = []
        self._finished = False
        self._cuts = 0
        self._opened = threading.Condition()
        self._news = asyncio.Event()

    def send(self, name: str, data: dict[str, Any]) -> None:
        """Send one event."""
        self.send_together((name, data))

    def send_together(self, *events: tuple[str, dict[str, Any]]) -> None:
        """Send several events in one piece, as a server does that has them all at once."""

        def append() -> None:
            for name, data in events:
                frame = f"id: {self.id}-{len(self._log) + 1}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
                self._log.append(frame.encode())

        self._change(append)

    def delta(self, **data: Any) -> None:
        """Send a delta."""
        self.send("delta", data)

    def end(self) -> None:
        """Send the end event and close."""
        self.send("stream-end", {})
        self._change(lambda: setattr(self, "_finished", True))

    def cut(self) -> None:
        """Close the connection without an end; the run goes on."""
        self._change(lambda: setattr(self, "_cuts", self._cuts + 1))

    def wait_for_readers(self, count: int) -> None:
        """Return when that many streams of this run were opened."""
        with self._opened:
            assert self._opened.wait_for(lambda: self.readers >= count, WAIT_SECONDS)

    async def frames(self, after: int) -> AsyncIterator[bytes]:
        """Yield the events after a number, as they come."""
        with self._opened:
            self.readers += 1
            self._opened.notify_all()
        cuts, sent = self._cuts, after
        yield b"retry: 20\n\n"
        while self._cuts == cuts:
            news, ready = self._news, self._log[sent:]
            if ready:
                sent += len(ready)
                yield b"".join(ready)
            elif self._finished:
                return
            else:
                await news.wait()

    def _change(self, change: Any) -> None:
        done = threading.Event()

        def apply() -> None:
            change()
            news, self._news = self._news, asyncio.Event()
            news.set()
            done.set()

        self._loop.call_soon_threadsafe(apply)
        assert done.wait(WAIT_SECONDS)


class ScriptedStore:
    """The server: its address, the runs that pages have asked for, and what was searched."""

    def __init__(self) -> None:
        self.url = ""
        self.products = load_sample()[:40]
        self.searches: list[dict[str, Any]] = []
        self.refusal: tuple[int, dict[str, Any]] | None = None
        self.refusal_headers: dict[str, str] = {}
        self.forgets_runs = False
        self.stopped: list[str] = []
        self.deleted: list[str] = []
        self.completions: list[str] | None = None
        """None is a shop without typeahead."""
        self.questions: list[str] = []
        self.asked_about: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._runs: list[ScriptedRun] = []
        self._new: queue.Queue[ScriptedRun] = queue.Queue()

    def next_run(self) -> ScriptedRun:
        """Return the next stream that the page asks for."""
        return self._new.get(timeout=WAIT_SECONDS)

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        """Return when something that a request changes is so."""
        with self._changed:
            assert self._changed.wait_for(is_so, WAIT_SECONDS)

    def newest_search(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the latest search once it is the one that is meant: pages change before they ask."""
        self.wait_for(lambda: bool(self.searches) and is_it(self.searches[-1]))
        return self.searches[-1]

    @property
    def runs_started(self) -> int:
        """How many answers were asked for, resumed ones not counted."""
        return len(self._runs)

    def app(self) -> FastAPI:
        """Return the application."""
        app = FastAPI(openapi_url=None)
        app.include_router(page_router())
        prefix = "/api/v1/indexes/demo"
        app.add_api_route(f"{prefix}/agentic-search", self._agentic, methods=["GET"])
        app.add_api_route(f"{prefix}/agentic-search/converse", self._converse, methods=["POST"])
        app.add_api_route(f"{prefix}/agentic-search/chat-suggestions", self._questions, methods=["POST"])
        app.add_api_route(f"{prefix}/recommendations/queries", self._completions, methods=["POST"])
        app.add_api_route(f"{prefix}/runs/{{run_id}}", self._resume, methods=["GET"])
        app.add_api_route(f"{prefix}/runs/{{run_id}}", self._stop, methods=["DELETE"])
        app.add_api_route(f"{prefix}/conversations/{{name}}", self._delete, methods=["DELETE"])
        app.add_api_route(f"{prefix}/search", self._search, methods=["POST"])
        app.add_api_route(f"{prefix}/get-documents", self._documents, methods=["POST"])
        return app

    async def _agentic(self, request: Request) -> Response:
        return self._begin(dict(request.query_params))

    async def _converse(self, request: Request) -> Response:
        return self._begin(await request.json())

    def _begin(self, parameters: dict[str, Any]) -> Response:
        if self.refusal is not None:
            status, body = self.refusal
            return JSONResponse(body, status, self.refusal_headers)
        run = ScriptedRun(len(self._runs) + 1, parameters, asyncio.get_running_loop())
        self._runs.append(run)
        self._new.put(run)
        return _stream(run, 0)

    async def _resume(self, request: Request, run_id: str) -> Response:
        _, _, seq = request.headers.get("last-event-id", "-0").rpartition("-")
        run = next((run for run in self._runs if run.id == run_id), None)
        if run is None or self.forgets_runs:
            return Response(status_code=204)
        return _stream(run, int(seq))

    async def _stop(self, run_id: str) -> Response:
        with self._changed:
            self.stopped.append(run_id)
            self._changed.notify_all()
        return Response(status_code=204 if any(run.id == run_id for run in self._runs) else 404)

    async def _delete(self, name: str) -> Response:
        self.deleted.append(name)
        return Response(status_code=204)

    async def _questions(self, request: Request) -> Response:
        self.asked_about.append(await request.json())
        return JSONResponse({"suggestions": self.questions})

    async def _completions(self, request: Request) -> Response:
        if self.completions is None:
            return JSONResponse({"message": "there is nothing at this path", "code": "not_found"}, 404)
        typed = (await request.json())["q"]
        found = [{"suggestion": text} for text in self.completions if text.startswith(typed)]
        return JSONResponse({"suggestions": found})

    async def _search(self, request: Request) -> Response:
        body = await request.json()
        with self._changed:
            self.searches.append(body)
            self._changed.notify_all()
        offset, limit = body.get("offset", 0), body.get("limit", 10)
        hits = [{**product, "_score": None} for product in self.products[offset : offset + limit]]
        facets = {"color": {"rust": {"count": 3}, "moss green": {"count": 9}}}
        return JSONResponse({"hits": hits, "totalHits": len(self.products), "facets": facets})

    async def _documents(self, request: Request) -> Response:
        wanted = (await request.json())["documentIds"]
        by_id = {product["_id"]: product for product in self.products}
        found = [{**by_id[one], "_found": True} if one in by_id else {"_found": False} for one in wanted]
        return JSONResponse({"results": found})


@contextmanager
def scripted_store() -> Iterator[ScriptedStore]:
    """Serve a scripted store on a free port, in a thread of its own."""
    store = ScriptedStore()
    config = uvicorn.Config(store.app(), port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    store.url = f"http://127.0.0.1:{socket.getsockname()[1]}"
    thread = threading.Thread(target=server.run, args=([socket],), name="scripted-store")
    thread.start()
    try:
        yield store
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(10)


def _stream(run: ScriptedRun, after: int) -> Response:
    headers = {"x-aisle-run-id": run.id, "cache-control": "no-cache"}
    return StreamingResponse(run.frames(after), headers=headers, media_type="text/event-stream")
