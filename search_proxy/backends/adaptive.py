"""Makes an engine that filters after ranking answer as one that filters first, as far as that can be had.

The filtered universe is looked at once. A small one is handed to the engine as ids, which is exact; for a
large one the engine ranks deep without the filter, what does not pass is dropped here, and the rest is handed
over as ids. What was chosen, how large the universe is and how deep it was ranked go with the result.

Source: the seed, adaptive hybrid; measured in docs/strategies.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_proxy.backend import SearchBackend
from search_proxy.engine.filtering import without_terms
from search_proxy.filters import Filter, InFilter, matches, merge_filters
from search_proxy.filters.tree import leaves
from search_proxy.filters.visibility import VISIBILITY, VISIBLE_TO
from search_proxy.models import (
    FacetField,
    FoundDocument,
    Hit,
    IndexDescription,
    Retrieval,
    SearchRequest,
    SearchResult,
)

DEEPEST = 1_000
"""A hundred deep, a filter that keeps a hundredth loses four of ten hits; a thousand deep, two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveConfig:
    """Up to `scope_limit` documents that pass a filter are handed over as ids; beyond, `depth` are ranked."""

    scope_limit: int = 1_000
    depth: int = DEEPEST


def filtering_first(backend: SearchBackend, config: AdaptiveConfig) -> SearchBackend:
    """Return the backend as it is where it filters before ranking, and adapted where it does not."""
    filters_first = getattr(backend, "filters_before_ranking", True)
    return backend if filters_first else AdaptiveBackend(backend, config)


class AdaptiveBackend:
    """A `SearchBackend` over one whose filters come after its ranking.

    The other MUST answer a search without words exactly, whatever its filter, and MUST apply a filter that
    only names ids before it ranks.
    """

    def __init__(self, backend: SearchBackend, config: AdaptiveConfig) -> None:
        self._backend = backend
        self._config = config

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Return one page of hits, with totals and facets that agree with each other."""
        wanted = merge_filters(request.forced_filter, request.filter)
        is_browsing = request.q is None or request.q.strip() in ("", "*")
        if wanted is None or is_browsing:
            return await self._backend.search(account_id, request)
        peek = await self._backend.search(account_id, _peek(request, self._config.scope_limit))
        universe = peek.total_hits
        if universe <= self._config.scope_limit:
            ids = [str(hit["_id"]) for hit in peek.hits]
            retrieval = Retrieval(choice="scoped", universe=universe)
        else:
            deep = await self._backend.search(account_id, _deep(request, wanted, self._config.depth))
            ids = [str(hit["_id"]) for hit in deep.hits if _passes(wanted, hit)]
            retrieval = Retrieval(
                choice="ranked_then_dropped",
                universe=universe,
                ceiling=self._config.depth,
                is_cut=deep.total_hits > self._config.depth,
            )
        found = await self._backend.search(account_id, _scoped(request, ids))
        facets = {**found.facets, **await self._wider_facets(account_id, request)}
        named = request.facets.fields if request.facets else ()
        return replace(
            found,
            universe_size=universe,
            retrieval=retrieval,
            facets={field.name: facets[field.name] for field in named},
        )

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; an unknown id has no document."""
        return await self._backend.get_documents(account_id, index, ids)

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the index's fields and sizes, of what passes `wanted` alone where it is given."""
        return await self._backend.describe(account_id, index, wanted)

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        return await self._backend.list_indexes(account_id)

    async def _wider_facets(self, account_id: str, request: SearchRequest) -> dict[str, Mapping[str, Any]]:
        """Count the fields that leave terms of the filter out, each in the universe that it has then."""
        facets: dict[str, Mapping[str, Any]] = {}
        for field in _wider(request):
            assert request.facets is not None
            wider = replace(
                request,
                filter=merge_filters(
                    request.forced_filter, without_terms(request.filter, field.exclude_terms)
                ),
                facets=replace(request.facets, fields=(replace(field, exclude_terms=()),)),
                limit=1,
                offset=0,
            )
            facets |= (await self.search(account_id, wider)).facets
        return facets


def _peek(request: SearchRequest, limit: int) -> SearchRequest:
    return replace(
        request,
        q=None,
        limit=max(limit, 1),
        offset=0,
        attributes_to_retrieve=("_id",),
        facets=None,
        sort_by=(),
        collapse=False,
        explain=False,
        reasons=False,
        lane="all",
    )


def _deep(request: SearchRequest, wanted: Filter, depth: int) -> SearchRequest:
    read = {VISIBLE_TO if leaf.field == VISIBILITY else leaf.field for leaf in leaves(wanted)}
    return replace(
        _peek(request, depth),
        q=request.q,
        lane=request.lane,
        filter=None,
        forced_filter=None,
        attributes_to_retrieve=tuple(sorted(read)),
    )


def _scoped(request: SearchRequest, ids: Sequence[str]) -> SearchRequest:
    facets = request.facets
    if facets is not None:
        kept = tuple(field for field in facets.fields if not field.exclude_terms)
        facets = replace(facets, fields=kept) if kept else None
    if not ids:
        # A list of ids may not be empty; words that are none match nothing.
        return replace(request, q="", facets=facets)
    return replace(request, filter=InFilter("_id", tuple(ids)), forced_filter=None, facets=facets)


def _wider(request: SearchRequest) -> list[FacetField]:
    return [field for field in request.facets.fields if field.exclude_terms] if request.facets else []


def _passes(wanted: Filter, hit: Hit) -> bool:
    return matches(wanted, {name: value for name, value in hit.items() if name != "_score"})
