"""What a search asks and answers, inside the process.

The HTTP faces translate to and from these values; every backend takes and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from search_proxy.filters import Filter

Document = Mapping[str, Any]
"""A product as the merchant gave it: `{"_id", "productTitle", "price", ...}`. Free attributes are kept."""

Hit = Mapping[str, Any]
"""A document's returned attributes with `_id` and `_score` (None where nothing was ranked)."""

FieldKind = Literal["string", "array", "number", "boolean"]

SearchLane = Literal["all", "text", "vector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetRange:
    """A numeric bucket: `start` inclusive, `end` exclusive, None open."""

    start: float | None = None
    end: float | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetField:
    """One field to count. `exclude_terms` are filter terms ignored for this field's own counts."""

    name: str
    kind: Literal["string", "array", "number"] = "string"
    max_results: int | None = None
    order: Literal["asc", "desc"] = "desc"
    ranges: tuple[FacetRange, ...] = ()
    exclude_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetsRequest:
    """The facets of one search."""

    fields: tuple[FacetField, ...]
    max_results: int = 100
    order: Literal["asc", "desc"] = "desc"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortField:
    """One sort key; documents without the field go `missing`."""

    name: str
    order: Literal["asc", "desc"] = "desc"
    missing: Literal["last", "first"] = "last"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search of one index.

    `q` None or `"*"` browses: every document that passes the filter, in service order or by `sort_by`,
    with `_score` None. `q=""` matches nothing. `filter` is what must pass, everybody's parts ANDed.
    `forced_filter` is the part of it that the account's rights put there: it is ANDed once more wherever
    `filter` is loosened, so `exclude_terms` lift terms of the client's own filter alone.
    `forced_attributes` are returned besides those that were asked for.
    With `reasons` each hit says why it is one: `_matched`, `_excerpt`, `_reason`.
    `lane` narrows what ranks: `text` scores are BM25, `vector` scores are cosines, none below
    `min_similarity`; `all` fuses the lanes that there are.
    """

    index: str
    q: str | None = None
    limit: int = 10
    offset: int = 0
    filter: Filter | None = None
    forced_filter: Filter | None = None
    attributes_to_retrieve: tuple[str, ...] | None = None
    facets: FacetsRequest | None = None
    sort_by: tuple[SortField, ...] = ()
    forced_attributes: tuple[str, ...] = ()
    collapse: bool = True
    explain: bool = False
    reasons: bool = False
    lane: SearchLane = "all"
    min_similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """How a filter and a ranking were brought together.

    `filter_first` and `scoped` are exact. With `ranked_then_dropped` the best `ceiling` of the whole index
    were ranked and those outside the filter dropped; `is_cut` says that more matched than were ranked.
    """

    choice: Literal["filter_first", "scoped", "ranked_then_dropped"]
    universe: int
    ceiling: int | None = None
    is_cut: bool = False

    def to_wire(self) -> dict[str, Any]:
        """Return the receipt's `retrieval`. Source: docs/wire-format.md."""
        facts: dict[str, Any] = {"choice": self.choice, "universe": self.universe}
        return facts if self.ceiling is None else facts | {"ceiling": self.ceiling, "cut": self.is_cut}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found.

    `total_hits` counts after filters and collapse. `facets` is the wire form:
    `{"color": {"red": {"count": 5}}, "price": {"min": 1, "max": 9, "avg": 4, "sum": 8, "count": 2}}`.
    `universe_size` is how many documents passed the filter, before any ranking; None where unknown.
    `lanes` are what ranked: `text`, `vector`, or nothing where a search only browsed. `generation` is the
    index's, None where the engine has none. `withheld` counts what the view gate took out after ranking.
    `below_floor` counts the nearest by meaning that were too far to be hits; None where that was not asked.
    `retrieval` is how the filter was applied, None where there was nothing to bring together.
    """

    hits: tuple[Hit, ...]
    total_hits: int
    facets: Mapping[str, Mapping[str, Any]]
    query: str | None
    limit: int
    offset: int
    processing_time_ms: float
    universe_size: int | None = None
    lanes: tuple[str, ...] = ("text",)
    generation: str | None = None
    withheld: int = 0
    below_floor: int | None = None
    retrieval: Retrieval | None = None

    @property
    def is_closed(self) -> bool:
        """Whether the view gate let nothing through: nothing that lasts may be learned from that."""
        return self.withheld > 0 and not self.hits


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInfo:
    """A field of an index as the facet context shows it; `top_values` are `(value, documents)`."""

    name: str
    kind: FieldKind
    documents: int
    distinct: int = 0
    top_values: tuple[tuple[str, int], ...] = ()
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDescription:
    """What an index is: size, fields, which of them names the category, and its generation.

    `generation` changes with every committed write. `lanes` are what a query is ranked by, and
    `embedded_documents` is how many documents the vector lane knows already, by `embedding_model`.
    `says_who_may_see` tells that some document keeps itself from somebody. `facets` are the fields that were
    declared to be counted unasked, None where nothing was declared. `rights` is what the caller for
    whom it was made may see, as a text that is equal for equal rights, "" where all of it is everybody's.
    With `is_judged` a permission service decides over each hit: nothing made of hits may be kept for others.
    """

    index: str
    documents: int
    products: int
    fields: tuple[FieldInfo, ...]
    category_field: str | None
    language: str
    generation: str
    lanes: tuple[str, ...] = ("text",)
    embedded_documents: int = 0
    embedding_model: str | None = None
    says_who_may_see: bool = False
    facets: tuple[str, ...] | None = None
    rights: str = ""
    is_judged: bool = False

    def field(self, name: str) -> FieldInfo | None:
        """Return the field of that name, or None."""
        return next((field for field in self.fields if field.name == name), None)

    def only(self, names: Sequence[str] | None) -> IndexDescription:
        """Return the description with these fields alone; None keeps them all."""
        if names is None:
            return self
        return replace(self, fields=tuple(field for field in self.fields if field.name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """A document asked for by id; `document` is None where the index has none of that id."""

    id: str
    document: Document | None


Documents = Sequence[Document]
