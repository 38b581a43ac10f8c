"""What a tool's handler works with: one caller, one corpus, and the searches that the caller may make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.filters import Filter
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call's surroundings. `offered` are the tools that the caller can be sent to instead."""

    search: SearchBinding
    caller: Caller
    profile: CorpusProfile
    web: WebTier
    paraphraser: Paraphraser | None = None
    offered: frozenset[str] = frozenset()
    name_of: NameOf = str

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
        request = SearchRequest(
            index=self.profile.index,
            q=query,
            limit=limit,
            filter=wanted,
            sort_by=sort_by,
            lane=lane,
            min_similarity=min_similarity,
            attributes_to_retrieve=wanted_attributes(self.profile),
        )
        return await self.search.handle_search(self.caller, request)

    async def documents(self, ids: Sequence[str]) -> list[tuple[str, Document | None]]:
        """Return the documents of `ids` that the caller may see, None for every other id."""
        found = await self.search.get_documents(self.caller, self.profile.index, ids)
        return [(entry.id, entry.document) for entry in found]

    def instead(self, *names: str) -> str:
        """Return a clause that sends the model to the first of `names` that it has, or nothing."""
        name = next((name for name in names if name in self.offered), None)
        return "" if name is None else f"; try {self.name_of(name)}"

    def unavailable(self, what: str, *names: str) -> ToolFailure:
        """Return the failure of something that is not there, with the way around it."""
        return ToolFailure(f"{what}{self.instead(*names)}", "unavailable")
