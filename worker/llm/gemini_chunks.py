"""Reads the JSON chunks of one streamed Gemini response as model events.

Both clients end here, so that they cannot differ in what a chunk means. Only the first candidate
counts, thoughts are left out, and parts of unknown kinds are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_MOST_TOKENS = 1_000_000_000
"""A count beyond that is none; a hundred years of such answers can be added up."""
_MOST_WORDS = 300
_FIRST = (None, 0, "0")


class ChunkReader:
    """Reads one response; `finish` is set as soon as the model has said why it stopped.

    From then on the answer is whole, and what is said against it is not heard.
    """

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self._open_call: str | None = None
        self._in_call = False
        self._usage: dict[str, Any] = {}

    def read(self, chunk: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield what one chunk says; otherwise as `give`."""
        said: list[ModelEvent] = []
        try:
            self.give(chunk, said.append)
        except ModelError:
            yield from said
            raise
        yield from said

    def give(self, chunk: dict[str, Any], take: Callable[[ModelEvent], None]) -> None:
        """Call `take` with everything that one chunk says.

        Raises:
            ModelError: The chunk is an error, or the model was stopped before its answer was whole.
        """
        if chunk.get("error"):
            if self.finish is not None:
                return
            raise error_from_event(chunk)
        candidate = _first_candidate(chunk)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and not part.get("thought"):
                text = part.get("text")
                if text and isinstance(text, str):
                    take(TextDelta(text=text if text.isascii() else sendable(text)))
                elif isinstance(call := part.get("functionCall"), dict):
                    for event in self._call(call, part.get("thoughtSignature")):
                        take(event)
        usage = chunk.get("usageMetadata")
        if usage != self._usage and isinstance(usage, dict):
            # Every chunk repeats the counts.
            self._usage = usage
            take(Usage(usage=_usage(usage)))
        if self.finish is not None:
            return
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            raise ModelError("blocked", f"the prompt was blocked: {_words(feedback['blockReason'])}")
        if candidate.get("finishReason"):
            self._read_finish(candidate)

    def end(self) -> Finish:
        """Return how the stream ended, once no more bytes come.

        Raises:
            ModelError: No chunk said why the model stopped, so the answer may be cut.
        """
        if self.finish is None:
            raise ModelError("incomplete", "the stream ended without a finish reason", retryable=True)
        return self.finish

    def _read_finish(self, candidate: dict[str, Any]) -> None:
        reason = _words(candidate["finishReason"]).upper()
        message = _words(candidate.get("finishMessage") or "") or None
        if reason in _GOOD_REASONS:
            self.finish = Finish(reason=reason, message=message)
            return
        told = f": {message}" if message else ""
        if reason in _BLOCKING_REASONS:
            raise ModelError("blocked", f"the model was stopped with {reason}{told}")
        raise ModelError("incomplete", f"the model stopped with {reason}{told}", retryable=True)

    def _call(self, call: dict[str, Any], signature: Any) -> Iterator[ModelEvent]:
        name, leaves, goes_on = _text(call.get("name")), _leaves(call), call.get("willContinue")
        if not leaves and (call.get("args") or not goes_on):
            if self._in_call and not call.get("args") and not name:
                self._in_call = False
                yield FunctionCallEnd()
            else:
                # A whole call may say that it goes on, and then end with nothing more.
                self._in_call = bool(goes_on)
                yield FunctionCall(
                    name=name or "",
                    args=_arguments(call),
                    call_id=_text(call.get("id")),
                    signature=_text(signature),
                )
            return
        if name:
            self._open_call = name
        self._in_call = True
        for leaf in leaves:
            yield _partial(self._open_call, leaf)
        if not goes_on:
            self._in_call = False
            yield FunctionCallEnd()


def is_first(candidate: Any) -> bool:
    """Return whether this is the one candidate that counts; some servers number none."""
    return isinstance(candidate, dict) and candidate.get("index") in _FIRST


def _first_candidate(chunk: dict[str, Any]) -> dict[str, Any]:
    candidates = chunk.get("candidates")
    for candidate in candidates if isinstance(candidates, list) else ():
        if is_first(candidate):
            found: dict[str, Any] = candidate
            return found
    return {}


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    args = call.get("args")
    if args is not None and not isinstance(args, dict):
        raise ModelError(
            "protocol", f"function arguments are {type(args).__name__}, not an object", retryable=True
        )
    return args or {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _words(value: Any) -> str:
    """Return what a server says of itself as text that a log line can hold."""
    return sendable(str(value)[:_MOST_WORDS])


def _leaves(call: dict[str, Any]) -> list[Any]:
    leaves = call.get("partialArgs")
    return leaves if isinstance(leaves, list) else []


def _partial(name: str | None, leaf: Any) -> PartialArgument:
    leaf = leaf if isinstance(leaf, dict) else {}
    values = (leaf[key] for key in ("stringValue", "numberValue", "boolValue") if leaf.get(key) is not None)
    value = next(values, None)
    return PartialArgument(
        name=name,
        # A path that leads nowhere is counted where paths are read.
        path=_text(leaf.get("jsonPath")) or "",
        value=sendable(value) if isinstance(value, str) else value,
        will_continue=bool(leaf.get("willContinue")),
    )


def _usage(usage: dict[str, Any]) -> TokenUsage:
    return TokenUsage(
        input=token_count(usage.get("promptTokenCount")),
        output=token_count(usage.get("candidatesTokenCount")),
        thoughts=token_count(usage.get("thoughtsTokenCount")),
        cached=token_count(usage.get("cachedContentTokenCount")),
    )


def token_count(value: Any) -> int:
    """Return a count as a server may have meant it: none below zero, none beyond reason."""
    return min(max(value, 0), _MOST_TOKENS) if isinstance(value, int) else 0
