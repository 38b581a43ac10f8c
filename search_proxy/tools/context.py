"""What a tool's handler works with: one caller, one corpus, and the searches that the caller may make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.filters import Filter, InFilter, merge_filters
from search_proxy.models import Document, SearchLane, SearchRequest, SearchResult, SortField
from search_proxy.tools.corpus import CorpusProfile
from search_proxy.tools.definition import ToolFailure
from search_proxy.tools.hits import wanted_attributes
from search_proxy.web.tier import WebTier


class Paraphraser(Protocol):
    """Says a query in other words; a model does it well, the catalog's own terms do it without one."""

    async def paraphrases(self, query: str, limit: int) -> Sequence[str]:
        """Return at most `limit` other ways to say `query`; none where nothing comes to mind."""
        ...


NameOf = Callable[[str], str]
"""Gives a tool's name as the face in use has it."""


@dataclass(slots=True, kw_only=True)
class CallNotes:
    """What a call leaves behind beside its answer: the filter that its searches were really made with."""

    filter: Filter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call's surroundings. `offered` are the tools that the caller can be sent to instead.

    `bound` is ANDed to every search and keeps every document out that does not pass it.
    """

    search: SearchBinding
    caller: Caller
    profile: CorpusProfile
    web: WebTier
    paraphraser: Paraphraser | None = None
    offered: frozenset[str] = frozenset()
    name_of: NameOf = str
    bound: Filter | None = None
    notes: CallNotes = field(default_factory=CallNotes)

    async def find(
        self,
        query: str | None,
        lane: SearchLane,
        limit: int,
        *,
        wanted: Filter | None = None,
        sort_by: tuple[SortField, ...] = (),
        min_similarity: float | None = None,
    ) -> SearchResult:
        """Search with the caller's rights and return hits with what a tool shows of them."""
        self.notes.filter = merge_filters(self.bound, wanted)
        request = SearchRequest(
            index=self.profile.index,
            q=query,
            limit=limit,
            filter=self.notes.filter,
            sort_by=sort_by,
            lane=lane,
            min_similarity=min_similarity,
            attributes_to_retrieve=wanted_attributes(self.profile),
        )
        return await self.search.handle_search(self.caller, request)

    async def documents(self, ids: Sequence[str]) -> list[tuple[str, Document | None]]:
        """Return the documents of `ids` that the caller may see, None for every other id."""
        found = await self.search.get_documents(self.caller, self.profile.index, ids)
        passing = set(ids) if self.bound is None else await self._passing(self.bound, ids)
        return [(entry.id, entry.document if entry.id in passing else None) for entry in found]

    async def _passing(self, bound: Filter, ids: Sequence[str]) -> set[str]:
        request = SearchRequest(
            index=self.profile.index,
            limit=len(ids),
            filter=merge_filters(bound, InFilter("_id", tuple(ids))),
            attributes_to_retrieve=("_id",),
            collapse=False,
        )
        return {str(hit["_id"]) for hit in (await self.search.handle_search(self.caller, request)).hits}

    def instead(self, *names: str) -> str:
        """Return a clause that sends the model to the first of `names` that it has, or nothing."""
        name = next((name for name in names if name in self.offered), None)
        return "" if name is None else f"; try {self.name_of(name)}"

    def unavailable(self, what: str, *names: str) -> ToolFailure:
        """Return the failure of something that is not there, with the way around it."""
        return ToolFailure(f"{what}{self.instead(*names)}", "unavailable")
