"""What a tool is on every face: its name, schemas, description, handler, and how it answers.

A tool never raises to its caller: what goes wrong becomes a sentence that says what happened and what to
try instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from search_proxy.filters import Filter

if TYPE_CHECKING:
    from search_proxy.tools.context import ToolContext
    from search_proxy.tools.corpus import CorpusProfile

Schema = Mapping[str, Any]

FailureKind = Literal["invalid", "not_found", "unavailable", "timeout", "denied"]


class ToolFailure(Exception):
    """Ends a call with a sentence for the model; `kind` is what a face makes its status code of."""

    def __init__(self, sentence: str, kind: FailureKind = "invalid") -> None:
        super().__init__(sentence)
        self.kind: FailureKind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWording:
    """What a description says; `{name}` places in the texts are tool names as their face has them."""

    purpose: str
    good_at: str
    bad_at: str
    example: Callable[[CorpusProfile], str] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool, defined once. `about_index` is false for tools that look outside of it.

    `schema` is made for one corpus, because its fields are in it. `handler` returns the structured answer.
    """

    name: str
    title: str
    wording: ToolWording
    schema: Callable[[CorpusProfile], Schema]
    output_schema: Schema
    handler: Callable[[ToolContext, Mapping[str, Any]], Awaitable[dict[str, Any]]]
    about_index: bool = True
    is_open_world: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as one caller sees it for one index: named, described, with its schemas filled in."""

    name: str
    title: str
    description: str
    schema: Schema
    output_schema: Schema
    is_open_world: bool
    definition: ToolDefinition
    index: str | None
    is_available: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a call came to: a structured answer with its text twin, or a sentence that says why not.

    `applied_filter` is what its searches were made with, beside the caller's own rights.
    """

    text: str
    structured: dict[str, Any] | None = None
    failure: FailureKind | None = None
    applied_filter: Filter | None = None
    milliseconds: float = 0.0

    @property
    def found(self) -> int:
        """How many hits, documents or results the answer holds."""
        parts = self.structured or {}
        lists = [parts[name] for name in ("hits", "documents", "results") if name in parts]
        return sum(len(one) for one in lists) if lists else int(bool(parts))
