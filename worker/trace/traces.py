"""Records the runs of accounts that want it, and keeps their traces after the answer has been sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from search_proxy.caller import Caller
from worker.answer import Answer
from worker.background import Background
from worker.request import AgenticRequest
from worker.settings import Settings
from worker.trace.recording import FORMAT, Recording, recorded
from worker.trace.trace_files import TraceFiles

logger = logging.getLogger(__name__)


class Traces:
    """Where a run that is to be traced is recorded, and a trace is found again."""

    def __init__(self, files: TraceFiles, background: Background, settings: Settings) -> None:
        self._files = files
        self._background = background
        self._server = {
            "hasModel": settings.gemini_api_key is not None or settings.vertex_project is not None,
            "model": settings.model,
            "fallbackModels": settings.fallback_models,
            "modelWire": settings.model_wire,
        }

    @contextmanager
    def recording(self, answer: Answer) -> Iterator[None]:
        """Record the block, an answer's whole flow, where its account has `keep_traces` on."""
        if not answer.request.settings.agentic_config.keep_traces:
            yield
            return
        with recorded() as recording:
            try:
                yield
            finally:
                trace = whole_trace(answer, recording) | {"server": self._server}
                self._background(self._keep(answer.run_id, trace), name="keep-trace")

    async def read(self, account_id: str, run_id: str) -> dict[str, Any] | None:
        """Return an account's trace of that run; None where it has none.

        Raises:
            OSError: It cannot be read.
            TraceUnreadable: The file is damaged.
        """
        trace = await asyncio.to_thread(self._files.read, run_id)
        return trace if trace is not None and trace["account"] == account_id else None

    async def _keep(self, run_id: str, trace: dict[str, Any]) -> None:
        try:
            await asyncio.to_thread(self._files.write, run_id, trace)
        except OSError as error:
            logger.warning("trace_not_kept", extra={"run_id": run_id, "error": str(error)})


def trace_files(settings: Settings) -> TraceFiles:
    """Return the traces that the settings' data folder keeps."""
    return TraceFiles(
        settings.data_dir / "traces",
        keep_seconds=settings.trace_seconds,
        max_bytes=settings.trace_bytes,
    )


def whole_trace(answer: Answer, recording: Recording) -> dict[str, Any]:
    """Return the trace of an answer that has ended, however it did."""
    initial = answer.initial
    return {
        "format": FORMAT,
        "runId": answer.run_id,
        "account": answer.request.caller.account_id,
        "index": answer.request.index,
        "request": _request(answer.request),
        "outcome": answer.outcome.value,
        "generation": None if initial is None else initial.generation,
        "embedded": answer.request.description.embedded_documents,
        "receipt": answer.receipt(),
        "starts": answer.timings.starts(),
        "decision": {
            "strategy": answer.decision.strategy,
            "rewrittenQuery": answer.decision.rewritten_query,
            "message": answer.decision.message,
        },
        "calls": [call.facts | {"events": call.events} for call in recording.calls],
        "searches": recording.searches,
        "leftOut": recording.left_out,
        "answer": outline(answer),
    }


def outline(answer: Answer) -> dict[str, Any]:
    """Return what the shopper got, as a replay is compared by it."""
    return {
        "source": answer.source.value,
        "hits": [] if answer.initial is None else [hit["_id"] for hit in answer.initial.hits],
        "expansions": [[each.query, each.label, each.confidence, each.filter] for each in answer.expansions],
        "categories": sorted(
            (
                {
                    "category": found.expansion.label,
                    "query": found.expansion.query,
                    "appliedFilter": None if found.applied_filter is None else str(found.applied_filter),
                    "filterDropped": found.dropped_filter,
                    "totalHits": found.total_hits,
                    "hits": [hit["_id"] for hit in found.hits],
                    "error": None if found.error is None else found.error.get("code"),
                }
                for found in answer.categories
            ),
            key=lambda each: (each["category"], each["query"]),
        ),
        "complements": list(answer.complements),
        "summary": "".join(answer.summary),
    }


def _request(request: AgenticRequest) -> dict[str, Any]:
    """Return the question with everything that shapes its answer; of the shopper, nothing but rights."""
    initial, caller = request.initial, request.caller
    return {
        "q": request.query,
        "filter": None if initial.filter is None else str(initial.filter),
        "limit": initial.limit,
        "offset": initial.offset,
        "sortBy": [[each.name, each.order, each.missing] for each in initial.sort_by],
        "categoryLimit": request.category.limit,
        "maxCategories": request.max_categories,
        "clickableSummary": request.clickable_summary,
        "suggestFilters": request.suggest_filters,
        "converses": request.converses,
        "settings": request.settings.model_dump(mode="json"),
        "settingsVersion": request.settings_version,
        "promptVersion": request.prompt.version,
        "prompt": request.prompt.slots.model_dump(mode="json"),
        "rights": _rights(caller),
    }


def _rights(caller: Caller) -> dict[str, Any]:
    return {
        "keyKind": caller.key_kind,
        "groups": sorted(caller.groups),
        "forcedFilter": None if caller.forced_filter is None else str(caller.forced_filter),
        "indexes": None if caller.indexes is None else sorted(caller.indexes),
    }
