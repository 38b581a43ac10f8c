"""A draft beside the published prompt, on a merchant's own queries and the live catalog.

The worker runs the queries (`PromptPreviewer`); this module lays the two answers side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from search_proxy.accounts.prompt_slots import PromptInUse
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.caller import Caller

MAX_QUERIES = 20
MAX_QUERY_CHARACTERS = 500
_AT_ONCE = 4
"""Previews share the model with shoppers; they may not take all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewCategory:
    """One category of a preview, with the first hits' `{"_id", "title", "price"}`."""

    label: str
    query: str
    confidence: float
    filter: str | None
    filter_dropped: bool
    total_hits: int
    hits: tuple[Mapping[str, Any], ...]
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPreview:
    """What one prompt made of one query. `source` says whether a model or the rules planned it."""

    query: str
    prompt_version: int
    source: str
    categories: tuple[PreviewCategory, ...]
    summary: str
    input_tokens: int
    output_tokens: int
    first_category_ms: float | None
    total_ms: float
    warnings: tuple[str, ...] = ()


class PromptPreviewer(Protocol):
    """Runs a query as a shopper's would run, with a given prompt, leaving caches and conversations alone."""

    async def preview(
        self, caller: Caller, index: str, query: str, *, prompt: PromptInUse, settings: IndexSettings
    ) -> QueryPreview:
        """Return what the prompt makes of the query.

        Implementations MUST answer without a model too (from the catalog planner), MUST NOT read or write
        the answer cache, and MUST apply the caller's forced filter.

        Raises:
            SearchError: The index does not exist or the search could not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One query under both prompts."""

    query: str
    draft: QueryPreview
    published: QueryPreview

    def as_json(self) -> dict[str, Any]:
        """Return `{"query", "draft": {...}, "published": {...}}`."""
        return asdict(self)


async def compare_prompts(
    previewer: PromptPreviewer,
    caller: Caller,
    index: str,
    queries: Sequence[str],
    *,
    draft: PromptInUse,
    published: PromptInUse,
    settings: IndexSettings,
) -> tuple[Comparison, ...]:
    """Return every query under both prompts, in the order of the queries.

    Raises:
        SearchError: The first preview that failed; the others are given up.
    """
    places = asyncio.Semaphore(_AT_ONCE)
    found: dict[tuple[int, str], QueryPreview] = {}

    async def run(place: int, name: str, query: str, prompt: PromptInUse) -> None:
        async with places:
            found[place, name] = await previewer.preview(
                caller, index, query, prompt=prompt, settings=settings
            )

    try:
        async with asyncio.TaskGroup() as previews:
            for place, query in enumerate(queries):
                for name, prompt in (("draft", draft), ("published", published)):
                    previews.create_task(run(place, name, query, prompt), name=f"preview {name} {place}")
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
    return tuple(
        Comparison(query=query, draft=found[place, "draft"], published=found[place, "published"])
        for place, query in enumerate(queries)
    )


def checked_queries(queries: Sequence[str]) -> tuple[str, ...]:
    """Return the queries without blank lines.

    Raises:
        ValueError: There are none, too many, or one is too long.
    """
    kept = tuple(query.strip() for query in queries if query.strip())
    if not 1 <= len(kept) <= MAX_QUERIES:
        raise ValueError(f"there are {len(kept)} queries; a preview takes 1 to {MAX_QUERIES}")
    for query in kept:
        if len(query) > MAX_QUERY_CHARACTERS:
            raise ValueError(f"query {query[:40]!r}... is longer than {MAX_QUERY_CHARACTERS} characters")
    return kept
