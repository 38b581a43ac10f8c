"""The seam to a language model: one streamed call, as events that hide which wire carried them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from worker.planning.plan import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineImage:
    """An image sent with the question, already checked and re-encoded."""

    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A whole function call.

    `call_id` and `signature` are the model's own marks of it: they go back beside the call's result, as they
    came, and say nothing of what is called.
    """

    name: str
    args: Mapping[str, Any]
    call_id: str | None = field(default=None, compare=False)
    signature: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionResult:
    """What a call came to; `response` is a JSON object."""

    call: FunctionCall
    response: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the conversation sent to the model.

    `calls` are the functions that the model called in it, `results` what became of those of the message
    before; with either the text may be empty.
    """

    role: Literal["user", "model"]
    text: str
    images: tuple[InlineImage, ...] = ()
    calls: tuple[FunctionCall, ...] = ()
    results: tuple[FunctionResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDeclaration:
    """A function that the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One model call. The stable part (system, schema) comes first, for prefix caching.

    `response_schema` asks for JSON text of that schema; `functions` offers functions instead. `calling` says
    whether one must be called ("any"), may be ("auto"), or must not ("none").
    """

    model: str
    system: str
    messages: Sequence[Message]
    response_schema: Mapping[str, Any] | None = None
    functions: Sequence[FunctionDeclaration] = ()
    calling: Literal["any", "auto", "none"] = "any"
    stream_function_arguments: bool = False
    max_output_tokens: int = 1200
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialArgument:
    """One leaf of a function call's arguments as it grows; fragments of one string path append."""

    name: str | None
    path: str
    value: str | float | bool | None
    will_continue: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCallEnd:
    """A function call that arrived in parts is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts so far; the last one counts."""

    usage: TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The model said why it stopped; the last event of a good stream."""

    reason: str
    message: str | None = None


ModelEvent = TextDelta | FunctionCall | PartialArgument | FunctionCallEnd | Usage | Finish


class ModelError(Exception):
    """A model call failed.

    `kind` is one of `rate_limited, unavailable, invalid_key, invalid_request, not_found, blocked, timeout,
    disconnected, incomplete, protocol, breaker_open, budget_spent`. `retry_after_seconds` is what the
    server asked for.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds


class LanguageModel(Protocol):
    """Streams one answer.

    Implementations MUST close the upstream socket when the iterator is closed or its task cancelled, MUST
    treat a stream that ends without a finish reason as a failure, and MUST hold no state between calls.
    """

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield events as bytes arrive; the last one is `Finish`.

        Raises:
            ModelError: The call failed; events already yielded stay valid.
        """
        ...

    async def warm_up(self, model: str) -> None:
        """Open a connection before the first call needs it; a failure is logged, never raised."""
        ...


@runtime_checkable
class PushingModel(Protocol):
    """A model that can call a function with each event, at a fraction of what it costs to wait for each."""

    async def push(self, request: ModelRequest, take: Callable[[ModelEvent], None]) -> None:
        """Call `take` with every event of one answer as its bytes arrive; the last one is `Finish`.

        What holds for `LanguageModel.stream` holds here.

        Raises:
            ModelError: The call failed; events already taken stay valid. What `take` raises passes through.
        """
        ...


def sendable(text: str) -> str:
    """Return the text with half surrogate pairs replaced, which JSON can carry and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
