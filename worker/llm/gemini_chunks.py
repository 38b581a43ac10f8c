"""Reads the JSON chunks of one streamed Gemini response as model events.

Both clients end here, so that they cannot differ in what a chunk means. Only the first candidate
counts, thoughts are left out, and parts of unknown kinds are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from worker.llm.gemini_errors import error_from_event
from worker.llm.language_model import (
    Finish,
    FunctionCall,
    FunctionCallEnd,
    ModelError,
    ModelEvent,
    PartialArgument,
    TextDelta,
    Usage,
    sendable,
)
from worker.planning.plan import TokenUsage

_GOOD_REASONS = frozenset({"STOP", "MAX_TOKENS"})
_BLOCKING_REASONS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"}
)


class ChunkReader:
    """Reads one response; `finish` is set as soon as the model has said why it stopped."""

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self._open_call: str | None = None
        self._in_call = False

    def read(self, chunk: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Yield what one chunk says.

        Raises:
            ModelError: The chunk is an error, or the model was stopped before its answer was whole.
        """
        if chunk.get("error"):
            raise error_from_event(chunk)
        candidate = _first_candidate(chunk)
        for part in _parts(candidate):
            yield from self._part(part)
        usage = chunk.get("usageMetadata")
        if isinstance(usage, Mapping):
            yield Usage(usage=_usage(usage))
        feedback = chunk.get("promptFeedback")
        reason = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
        if reason:
            raise ModelError("blocked", f"the prompt was blocked: {reason}")
        self._read_finish(candidate)

    def end(self) -> Finish:
        """Return how the stream ended, once no more bytes come.

        Raises:
            ModelError: No chunk said why the model stopped, so the answer may be cut.
        """
        if self.finish is None:
            raise ModelError("incomplete", "the stream ended without a finish reason", retryable=True)
        return self.finish

    def _read_finish(self, candidate: Mapping[str, Any]) -> None:
        reason = candidate.get("finishReason")
        if not reason:
            return
        message = candidate.get("finishMessage") or None
        if reason in _GOOD_REASONS:
            self.finish = Finish(reason=reason, message=message)
            return
        told = f": {message}" if message else ""
        if reason in _BLOCKING_REASONS:
            raise ModelError("blocked", f"the model was stopped with {reason}{told}")
        raise ModelError("incomplete", f"the model stopped with {reason}{told}", retryable=True)

    def _part(self, part: Mapping[str, Any]) -> Iterator[ModelEvent]:
        if part.get("thought"):
            return
        text, call = part.get("text"), part.get("functionCall")
        if isinstance(text, str) and text:
            yield TextDelta(text=sendable(text))
        elif isinstance(call, Mapping):
            yield from self._call(call)

    def _call(self, call: Mapping[str, Any]) -> Iterator[ModelEvent]:
        name, leaves, goes_on = call.get("name"), call.get("partialArgs"), call.get("willContinue")
        if not leaves and not goes_on:
            if self._in_call and not call.get("args") and not name:
                self._in_call = False
                yield FunctionCallEnd()
            else:
                yield FunctionCall(name=name or "", args=_arguments(call))
            return
        if name:
            self._open_call = name
        self._in_call = True
        for leaf in leaves or ():
            yield _partial(self._open_call, leaf)
        if not goes_on:
            self._in_call = False
            yield FunctionCallEnd()


def _first_candidate(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    candidates = chunk.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        if isinstance(candidate, Mapping) and not candidate.get("index"):
            return candidate
    return {}


def _parts(candidate: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    yield from (part for part in (parts if isinstance(parts, list) else ()) if isinstance(part, Mapping))


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    args = call.get("args")
    if args is not None and not isinstance(args, Mapping):
        raise ModelError("protocol", f"function arguments are {type(args).__name__}, not an object")
    return args or {}


def _partial(name: str | None, leaf: Any) -> PartialArgument:
    if not isinstance(leaf, Mapping) or not isinstance(leaf.get("jsonPath"), str):
        raise ModelError("protocol", "a partial argument has no path")
    values = (leaf[key] for key in ("stringValue", "numberValue", "boolValue") if leaf.get(key) is not None)
    return PartialArgument(
        name=name,
        path=leaf["jsonPath"],
        value=next(values, None),
        will_continue=bool(leaf.get("willContinue")),
    )


def _usage(usage: Mapping[str, Any]) -> TokenUsage:
    def count(name: str) -> int:
        value = usage.get(name)
        return value if isinstance(value, int) else 0

    return TokenUsage(
        input=count("promptTokenCount"),
        output=count("candidatesTokenCount"),
        thoughts=count("thoughtsTokenCount"),
        cached=count("cachedContentTokenCount"),
    )
