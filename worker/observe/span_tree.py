"""What one completion is as spans, in the names of OpenTelemetry's conventions for generative AI. Pure.

The spans are made when the request has ended, from what was measured: tracing costs a request nothing but its
place in a queue. Source: open-telemetry/semantic-conventions-genai, spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from worker.observe.completion import Completion

Value = str | int | float | bool

PROVIDER = "gcp.gemini"
_WORKFLOWS = {
    "agentic_search_completed": "agentic_search",
    "converse_completed": "converse",
    "chat_suggestions_completed": "chat_suggestions",
    "search_completed": "search",
}
_MODEL_STAGES = {"LLM_FIRST_CALL": "plan", "LLM_SECOND_CALL": "summary"}
_RETRIEVALS = {"INITIAL_MARQO_SEARCH": "first hits", "CATEGORY_SEARCH_TOTAL": "categories"}
_TRACED = re.compile(r"(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanFacts:
    """One span: seconds since the epoch, attributes, and the type of its error."""

    name: str
    kind: Literal["server", "client", "internal"]
    start: float
    end: float
    attributes: Mapping[str, Value]
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTree:
    """A request and its stages; `parent` is who asked, as `(trace id, span id)`."""

    root: SpanFacts
    stages: tuple[SpanFacts, ...] = ()
    parent: tuple[int, int] | None = field(default=None)


def span_tree(completion: Completion) -> SpanTree:
    """Return the spans of a completion."""
    seconds = completion.timings.get("E2E", 0.0) / 1000
    start = completion.at - seconds
    found = _TRACED.match(completion.request_id)
    workflow = _WORKFLOWS[completion.event]
    root = SpanFacts(
        name=f"invoke_workflow {workflow}",
        kind="server",
        start=start,
        end=completion.at,
        attributes=dict(_root_attributes(completion, workflow)),
        error=completion.error or ("error" if completion.outcome == "error" else None),
    )
    return SpanTree(
        root=root,
        stages=tuple(_stages(completion, start)),
        parent=(int(found["trace"], 16), int(found["span"], 16)) if found else None,
    )


def model_failure(completion: Completion) -> str | None:
    """Return the kind of the last failure of a model that the completion tells of."""
    kinds = [text.split(":")[1] for text in completion.warnings or () if text.startswith("model_failed:")]
    return kinds[-1] if kinds else None


def _root_attributes(completion: Completion, workflow: str) -> Iterator[tuple[str, Value]]:
    yield "gen_ai.operation.name", "invoke_workflow"
    yield "gen_ai.workflow.name", workflow
    yield "gen_ai.data_source.id", completion.index
    named: dict[str, Value | None] = {
        "aisle.account": completion.account,
        "aisle.source": completion.source,
        "aisle.outcome": completion.outcome,
        "aisle.request_id": completion.request_id,
        "aisle.run_id": completion.run_id,
        "aisle.strategy": completion.strategy,
        "aisle.cache_tier": completion.cache_tier,
        "aisle.degraded": completion.degraded,
        "aisle.query_hash": completion.query_hash,
        "aisle.filters_dropped": completion.filters_dropped,
        "gen_ai.conversation.id": completion.conversation_hash,
        "gen_ai.request.model": completion.model,
        "gen_ai.retrieval.query.text": completion.query,
    }
    yield from ((name, value) for name, value in named.items() if value is not None)
    if completion.prompt_version is not None:
        yield "gen_ai.prompt.name", f"{completion.account}/{completion.prompt_version}"
    for name, attribute in (("input", "input_tokens"), ("output", "output_tokens")):
        if completion.tokens and completion.tokens.get(name):
            yield f"gen_ai.usage.{attribute}", completion.tokens[name]


def _stages(completion: Completion, start: float) -> Iterator[SpanFacts]:
    for stage, began_ms in (completion.starts or {}).items():
        began = start + began_ms / 1000
        ended = began + completion.timings.get(stage, 0.0) / 1000
        if stage in _MODEL_STAGES:
            yield _model_span(completion, stage, began, ended)
        elif stage in _RETRIEVALS:
            attributes: dict[str, Value] = {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.data_source.id": completion.index,
                "aisle.stage": _RETRIEVALS[stage],
            }
            name = f"retrieval {completion.index}"
            yield SpanFacts(name=name, kind="client", start=began, end=ended, attributes=attributes)
        else:
            yield SpanFacts(
                name=stage.lower(), kind="internal", start=began, end=ended, attributes={"aisle.stage": stage}
            )


def _model_span(completion: Completion, stage: str, began: float, ended: float) -> SpanFacts:
    failure = model_failure(completion) if stage == "LLM_FIRST_CALL" else None
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.request.stream": True,
        "aisle.stage": _MODEL_STAGES[stage],
    }
    if completion.model is not None:
        attributes["gen_ai.request.model"] = completion.model
    if failure is not None:
        attributes["error.type"] = failure
    return SpanFacts(
        name=f"chat {completion.model}" if completion.model else "chat",
        kind="client",
        start=began,
        end=ended,
        attributes=attributes,
        error=failure if completion.source != "llm" else None,
    )
