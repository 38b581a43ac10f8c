"""Turns what went wrong into a sentence for the model: what happened, and which tool to try instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from search_proxy.errors import (
    AccessDenied,
    IndexNotFound,
    InvalidSearch,
    SearchError,
    SearchTimeout,
    UnknownField,
)
from search_proxy.tools.context import NameOf
from search_proxy.tools.definition import FailureKind, ToolAnswer, ToolFailure

_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "keyword_search": ("filter_documents", "web_search"),
    "semantic_search": ("keyword_search", "search"),
    "fused_search": ("keyword_search", "filter_documents"),
    "search": ("keyword_search", "filter_documents"),
    "filter_documents": ("keyword_search", "search"),
    "get_document": ("search", "keyword_search"),
    "read": ("get_document", "search"),
    "web_search": ("search", "keyword_search"),
    "fetch_page": ("web_search", "search"),
}
"""What may still work where a tool does not; the first that the caller has is named."""


def failure_of(
    errors: BaseExceptionGroup[BaseException], tool: str, index: str, offered: Set[str], name_of: NameOf
) -> ToolAnswer:
    """Return the answer for a failed call; of several errors the first counts."""
    error = next(_single(errors))
    if isinstance(error, ToolFailure):
        return ToolAnswer(text=_ended(str(error)), failure=error.kind)
    sentence, kind = _sentence(error, name_of(tool), index)
    instead = next((name_of(name) for name in _INSTEAD.get(tool, ()) if name in offered), None)
    if instead is not None and kind in ("unavailable", "timeout"):
        sentence = f"{sentence}; try {instead}, or the same call again later"
    return ToolAnswer(text=_ended(sentence), failure=kind)


def _sentence(error: BaseException, tool: str, index: str) -> tuple[str, FailureKind]:
    if isinstance(error, IndexNotFound):
        return f"there is no index {index!r} that you may search", "not_found"
    if isinstance(error, UnknownField):
        return f"the filter names {error.field!r}, which no document here has", "invalid"
    if isinstance(error, InvalidSearch):
        return str(error), "invalid"
    if isinstance(error, AccessDenied):
        return f"this key may not use {tool}", "denied"
    if isinstance(error, TimeoutError | SearchTimeout):
        return f"{tool} did not answer in time", "timeout"
    if isinstance(error, SearchError):
        return "the search engine is not available right now", "unavailable"
    return f"{tool} could not answer", "unavailable"


def _single(errors: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _single(error)
        else:
            yield error


def _ended(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}."
