"""What one caller can know of a corpus: its size, fields, values and dates, nothing that they may not see.

A caller without a forced filter is told what the index is. For a caller with one every figure is counted
through their own searches, so that a field or value of documents they may not see never shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.errors import SearchUnavailable
from search_proxy.models import (
    FacetField,
    FacetsRequest,
    FieldInfo,
    IndexDescription,
    SearchRequest,
    SearchResult,
)
from search_proxy.tools.dates import read_time
from search_proxy.tools.field_roles import NOT_FACETS, FieldRoles, field_roles

MOST_VALUES = 10_000
"""As many values of one field as the engine counts."""

MAX_FACETS = 12
"""Fields that a filter and a hit show by name; more would cost an agent more to read than they tell."""

_COUNTED_AT_ONCE = 100
_MOST_COUNTED_FIELDS = 2_000
_LONGEST_VALUE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusProfile:
    """One index as one caller sees it. `created_values` are the texts of the date field with their moment.

    `created_is_whole` is false where there are more of these texts than the engine counts. `fields` are all
    that the caller may filter by, the commonest first; `facets` are the few worth showing.
    """

    index: str
    documents: int
    language: str
    generation: str
    fields: Mapping[str, FieldInfo]
    roles: FieldRoles
    facets: tuple[FieldInfo, ...]
    author_values: frozenset[str] = frozenset()
    created_values: Mapping[str, datetime] = field(default_factory=dict)
    created_is_whole: bool = True
    created_span: tuple[datetime, datetime] | None = None
    has_vectors: bool = False
    embedding_model: str | None = None
    sample_titles: tuple[str, ...] = ()


async def read_profile(search: SearchBinding, caller: Caller, index: str) -> CorpusProfile:
    """Return the profile of an index for a caller.

    Raises:
        SearchError: The index does not exist for the caller, or the engine could not answer.
    """
    description = await search.describe_index(caller, index)
    fields = {info.name: info for info in description.fields}
    documents = description.products
    if caller.forced_filter is not None:
        fields, documents = await _visible(search, caller, description)
    by_coverage = dict(sorted(fields.items(), key=lambda entry: (-entry[1].documents, entry[0])))
    roles = field_roles(by_coverage)
    profile = CorpusProfile(
        index=index,
        documents=documents,
        language=description.language,
        generation=description.generation,
        fields=by_coverage,
        roles=roles,
        facets=_facets(by_coverage, roles, documents),
        has_vectors="vector" in description.lanes,
        embedding_model=description.embedding_model,
        sample_titles=await _sample_titles(search, caller, index, roles, documents),
    )
    return await _with_values(search, caller, profile)


def shown(value: str) -> str:
    """Return a value as a description shows it, never longer than a glance."""
    return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"


async def _visible(
    search: SearchBinding, caller: Caller, description: IndexDescription
) -> tuple[dict[str, FieldInfo], int]:
    """Count what the caller's own searches show of each field, the commonest fields first."""
    candidates = sorted(description.fields, key=lambda info: -info.documents)[:_MOST_COUNTED_FIELDS]
    fields: dict[str, FieldInfo] = {}
    documents = 0
    for start in range(0, len(candidates), _COUNTED_AT_ONCE):
        batch = candidates[start : start + _COUNTED_AT_ONCE]
        result = await _found(search, caller, _counting(description.index, batch))
        documents = result.total_hits
        for info in batch:
            counted = result.facets.get(info.name, {})
            if info.kind == "number":
                if counted.get("count"):
                    fields[info.name] = replace(
                        info,
                        documents=int(counted["count"]),
                        minimum=float(counted["min"]),
                        maximum=float(counted["max"]),
                        distinct=min(info.distinct, int(counted["count"])),
                    )
            elif counted:
                values = tuple((value, int(entry["count"])) for value, entry in counted.items())
                fields[info.name] = replace(
                    info,
                    documents=min(documents, sum(count for _, count in values)),
                    distinct=len(values),
                    top_values=values[:50],
                )
    return fields, documents


async def _found(search: SearchBinding, caller: Caller, request: SearchRequest) -> SearchResult:
    """Search for something that the profile will say for a while."""
    result = await search.handle_search(caller, request)
    if result.is_closed:
        raise SearchUnavailable("the index cannot be described: its view gate let nothing through")
    return result


def _counting(index: str, fields: Sequence[FieldInfo]) -> SearchRequest:
    facets = tuple(
        FacetField(name=info.name, kind="number" if info.kind == "number" else "string", max_results=1_000)
        for info in fields
    )
    return SearchRequest(index=index, q=None, limit=1, facets=FacetsRequest(fields=facets))


async def _with_values(search: SearchBinding, caller: Caller, profile: CorpusProfile) -> CorpusProfile:
    """Add the authors and the dates, where the index has such fields."""
    wanted = [
        name
        for name in (profile.roles.author, profile.roles.created)
        if name is not None and profile.fields[name].kind != "number"
    ]
    values: Mapping[str, Mapping[str, object]] = {}
    if wanted:
        facets = tuple(FacetField(name=name, max_results=MOST_VALUES) for name in dict.fromkeys(wanted))
        request = SearchRequest(index=profile.index, q=None, limit=1, facets=FacetsRequest(fields=facets))
        values = (await _found(search, caller, request)).facets
    created = {
        text: moment
        for text in values.get(profile.roles.created or "", ())
        if (moment := read_time(text)) is not None
    }
    authors = frozenset(value.casefold() for value in values.get(profile.roles.author or "", ()))
    return replace(
        profile,
        author_values=authors,
        created_values=created,
        created_is_whole=len(values.get(profile.roles.created or "", ())) < MOST_VALUES,
        created_span=_span(profile, list(created.values())),
    )


def _span(profile: CorpusProfile, moments: Sequence[datetime]) -> tuple[datetime, datetime] | None:
    name = profile.roles.created
    if name is not None and not moments:
        info = profile.fields[name]
        bounds = (read_time(info.minimum), read_time(info.maximum))
        moments = [moment for moment in bounds if moment is not None]
    return (min(moments), max(moments)) if moments else None


async def _sample_titles(
    search: SearchBinding, caller: Caller, index: str, roles: FieldRoles, documents: int
) -> tuple[str, ...]:
    """Return titles from all over the corpus: what examples and measurements are made of."""
    if roles.title is None or not documents:
        return ()
    titles: list[str] = []
    step = max(1, min(documents, 10_000) // 8)
    for offset in range(0, min(documents, 10_000), step):
        request = SearchRequest(
            index=index, q=None, limit=1, offset=offset, attributes_to_retrieve=(roles.title,)
        )
        hits = (await _found(search, caller, request)).hits
        titles += [title for hit in hits if isinstance(title := hit.get(roles.title), str)]
    return tuple(titles)


def _facets(fields: Mapping[str, FieldInfo], roles: FieldRoles, documents: int) -> tuple[FieldInfo, ...]:
    has_a_part = {roles.author, roles.created, roles.price}
    found = [
        info
        for info in fields.values()
        if info.name not in NOT_FACETS
        and info.name not in has_a_part
        and info.kind != "number"
        and 1 < info.distinct <= max(300, documents // 20)
        and info.documents * 100 >= documents
        and all(not value.startswith(("http://", "https://")) for value, _ in info.top_values[:1])
    ]
    return tuple(found[:MAX_FACETS])
