"""Joins a run's events into one JSON answer, for clients that do not stream."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Receive

from worker.errors import DeadlineExceeded, UpstreamFailed
from worker.run import Run
from worker.run_registry import RunRegistry
from worker.sse import client_gone


async def aggregate(run: Run, registry: RunRegistry, receive: Receive) -> dict[str, Any] | None:
    """Return the whole answer of `run` once it has ended, or None when the client has left before.

    Raises:
        UpstreamFailed: Nothing was found because something failed.
        DeadlineExceeded: Nothing was found in time.
    """
    registry.subscribe(run)
    try:
        async with asyncio.TaskGroup() as group:
            reader = group.create_task(_read(run), name=f"aggregate:{run.id}")
            watcher = group.create_task(client_gone(receive), name=f"aggregate-watcher:{run.id}")
            await asyncio.wait({reader, watcher}, return_when=asyncio.FIRST_COMPLETED)
            watcher.cancel()
            if not reader.done():
                reader.cancel()
                return None
    finally:
        registry.unsubscribe(run)
    return _checked(reader.result())


async def _read(run: Run) -> dict[str, Any]:
    answer: dict[str, Any] = {"summary": "", "categoryHits": [], "hits": [], "totalHits": 0, "facets": {}}
    answer |= {"queryComplements": [], "errors": []}
    async for event in run.events():
        _add(answer, event.data)
    receipt = answer.get("receipt") or {}
    answer["source"] = receipt.get("source")
    answer["processingTimeMs"] = receipt.get("timings", {}).get("E2E")
    return answer


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["errors"] and "receipt" not in answer and not answer["hits"] and not answer["categoryHits"]:
        failure = answer["errors"][-1]
        failed = DeadlineExceeded if failure["code"] == "deadline_exceeded" else UpstreamFailed
        raise failed(failure["message"])
    return answer


def _add(answer: dict[str, Any], data: dict[str, Any]) -> None:
    for name in ("hits", "totalHits", "facets", "queryComplements", "suggestedFilters", "receipt"):
        if name in data:
            answer[name] = data[name]
    if "rerankedHits" in data:
        answer["hits"] = data["rerankedHits"]
    answer["summary"] += data.get("summary", "") if isinstance(data.get("summary"), str) else ""
    answer["categoryHits"] += data.get("categoryHits", [])
    if "error" in data:
        answer["errors"].append(data["error"])
