"""A language model whose events are recorded where a recording is under way."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import orjson

from worker.llm.language_model import (
    Finish,
    FunctionCall,
    FunctionCallEnd,
    LanguageModel,
    ModelError,
    ModelEvent,
    ModelRequest,
    PartialArgument,
    PushingModel,
    TextDelta,
    Usage,
)
from worker.planning.plan import TokenUsage
from worker.trace.recording import ModelCall, Recording, current_recording


def traced(model: LanguageModel) -> LanguageModel:
    """Return the model with its events recorded; one that pushes still does."""
    return _TracedPushingModel(model) if isinstance(model, PushingModel) else _TracedModel(model)


class _TracedModel:
    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        recording = current_recording()
        if recording is None:
            return self._inner.stream(request)
        return _recorded_stream(self._inner, request, _begin(recording, request))

    async def warm_up(self, model: str) -> None:
        await self._inner.warm_up(model)


class _TracedPushingModel(_TracedModel):
    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        assert isinstance(inner, PushingModel)
        self._push = inner.push

    async def push(self, request: ModelRequest, take: Callable[[ModelEvent], None]) -> None:
        recording = current_recording()
        if recording is None:
            await self._push(request, take)
            return
        call = _begin(recording, request)

        def took(event: ModelEvent) -> None:
            _add(call, event)
            take(event)

        try:
            await self._push(request, took)
        except ModelError as error:
            _add_error(call, error)
            raise


async def _recorded_stream(
    inner: LanguageModel, request: ModelRequest, call: ModelCall
) -> AsyncIterator[ModelEvent]:
    events = inner.stream(request)
    try:
        async with aclosing(events):  # type: ignore[type-var]
            async for event in events:
                _add(call, event)
                yield event  # noqa: ASYNC119 (who asked for the stream closes it)
    except ModelError as error:
        _add_error(call, error)
        raise


def _begin(recording: Recording, request: ModelRequest) -> ModelCall:
    return recording.call(
        {
            "model": request.model,
            "kind": kind_of(request),
            "messages": len(request.messages),
            "characters": len(request.system) + sum(len(each.text) for each in request.messages),
        }
    )


def kind_of(request: ModelRequest) -> str:
    """Return what sort of call it is, by what may come back: calls made side by side are told apart."""
    shape = orjson.dumps(
        [request.response_schema, [each.name for each in request.functions]], option=orjson.OPT_SORT_KEYS
    )
    return hashlib.sha256(shape).hexdigest()[:12]


def _add(call: ModelCall, event: ModelEvent) -> None:
    written = write_event(event)
    call.add(written, sum(len(part) for part in written if isinstance(part, str)))


def _add_error(call: ModelCall, error: ModelError) -> None:
    call.add(["error", error.kind, str(error), error.status, error.retryable, error.retry_after_seconds], 0)


def write_event(event: ModelEvent) -> list[Any]:
    """Return a model event as JSON values, its kind first."""
    match event:
        case TextDelta(text=text):
            return ["text", text]
        case FunctionCall(name=name, args=args):
            return ["call", name, dict(args)]
        case PartialArgument(name=name, path=path, value=value, will_continue=more):
            return ["argument", name, path, value, more]
        case FunctionCallEnd():
            return ["call_end"]
        case Usage(usage=usage):
            return ["usage", usage.input, usage.output, usage.thoughts, usage.cached]
        case Finish(reason=reason, message=message):
            return ["finish", reason, message]


def read_event(written: list[Any]) -> ModelEvent:
    """Return the event that `write_event` wrote.

    Raises:
        ModelError: It is a recorded failure.
        ValueError: It is none of both.
    """
    match written:
        case ["text", str(text)]:
            return TextDelta(text=text)
        case ["call", str(name), dict(args)]:
            return FunctionCall(name=name, args=args)
        case ["argument", name, str(path), value, bool(more)]:
            return PartialArgument(name=name, path=path, value=value, will_continue=more)
        case ["call_end"]:
            return FunctionCallEnd()
        case ["usage", int(given), int(made), int(thought), int(cached)]:
            return Usage(usage=TokenUsage(input=given, output=made, thoughts=thought, cached=cached))
        case ["finish", str(reason), message]:
            return Finish(reason=reason, message=message)
        case ["error", str(kind), str(message), status, bool(retryable), after]:
            raise ModelError(kind, message, status=status, retryable=retryable, retry_after_seconds=after)
    raise ValueError(f"{written[:1]!r} is no model event")
