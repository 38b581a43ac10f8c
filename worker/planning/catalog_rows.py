"""Makes rows of the categories that the best hits speak for.

Where a finer type field says more than a broad category ("Accessories"), the type names the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search_proxy.filters import AndFilter, Filter, TermFilter
from search_proxy.models import Hit
from worker.planning.catalog_groups import Group, hit_values
from worker.planning.catalog_labels import category_label, clip, is_countable, title_case
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_words import singular, words_of

MINIMUM_HITS = 3
"""A row with fewer products is no choice."""
MINIMUM_SHARE = 0.05
FEW_ROWS = 4
MINIMUM_SHARE_OF_FEW = 0.03
"""With fewer rows than that, weaker categories are let in: a sentence often has no single aim."""
MINIMUM_COVERED = 0.3
"""Hits that cover less of the query only share a word with it: "shower head and valve" is no trumpet."""

_TYPE_SHARE = 0.7
_IN_TITLES = 0.3
_TOO_ALIKE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row that could be offered: `share` 0..1 of the best hits, `products` as counted by the index."""

    label: str
    filter: Filter
    share: float
    hits: frozenset[str]
    products: int | None = None
    category: str = ""
    covered: float = 1.0


def category_rows(groups: Sequence[Group], roles: Roles, limit: int) -> list[Row]:
    """Return one row per category that the hits speak for, the strongest first."""
    strong = [group for group in groups if is_meant(group)]
    if len(strong) < FEW_ROWS:
        strong = [group for group in groups if is_meant(group, MINIMUM_SHARE_OF_FEW)][:FEW_ROWS]
    rows: list[Row] = []
    for group in strong:
        row = _row(group, roles)
        if all(row.label.casefold() != other.label.casefold() for other in rows) and not any(
            overlap(row.hits, other.hits) > _TOO_ALIKE for other in rows
        ):
            rows.append(row)
    return rows[:limit]


def is_meant(group: Group, minimum_share: float = MINIMUM_SHARE) -> bool:
    """Say whether enough of the hits, and hits that cover enough of the query, lie in a category."""
    return group.share >= minimum_share and group.covered >= MINIMUM_COVERED


def scoped(scope: Filter | None, own: Filter) -> Filter:
    """Return a row's own filter within the scope of its category."""
    return own if scope is None else AndFilter(scope, own)


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of the smaller set that both have."""
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0


def _row(group: Group, roles: Roles) -> Row:
    ids = frozenset(str(hit["_id"]) for hit in group.hits)
    for name in roles.types:
        kinds = [values[0] for hit in group.hits if (values := hit_values(hit, name))]
        if not kinds:
            continue
        kind = max(sorted(set(kinds)), key=kinds.count)
        if (
            repeats(kind, group.value)
            or kinds.count(kind) < _TYPE_SHARE * len(group.hits)
            or kinds.count(kind) < MINIMUM_HITS
        ):
            continue
        return Row(
            label=type_label(group.value, kind, group.hits, name),
            filter=AndFilter(group.filter, TermFilter(name, kind)),
            share=group.share * kinds.count(kind) / len(group.hits),
            hits=frozenset(str(hit["_id"]) for hit in group.hits if kind in hit_values(hit, name)),
            category=group.value,
            covered=group.covered,
        )
    return Row(
        label=category_label(group.value),
        filter=group.filter,
        share=group.share,
        hits=ids,
        category=group.value,
        covered=group.covered,
    )


def repeats(kind: str, category: str) -> bool:
    """Say whether a type only repeats the category: "Notebook" within "notebook"."""
    return [singular(word) for word in words_of(kind)] == [singular(word) for word in words_of(category)]


def type_label(category: str, kind: str, hits: Sequence[Hit], field: str) -> str:
    """Return the label of a type within a category: alone where titles call the things that.

    An adjective ("Original") stands before the category, anything else after it.
    """
    shown = sum(_in_title(value, hit) for hit in hits for value in hit_values(hit, field)[:1])
    if not hits or shown < _IN_TITLES * len(hits):
        return clip(f"{category_label(category)}: {title_case(kind)}")
    nouns = [singular(word) for word in words_of(category)]
    words = [singular(word) for word in words_of(kind)]
    may_be_adjective = len(words) == 1 and words[0] not in nouns and is_countable(category)
    if may_be_adjective and nouns and sum(_in_title(nouns[-1], hit) for hit in hits) >= len(hits) / 2:
        return clip(f"{title_case(kind)} {category_label(category)}")
    return category_label(kind)


def _in_title(value: str, hit: Hit) -> bool:
    title = {singular(word) for word in words_of(str(hit.get("productTitle", "")))}
    words = [singular(word) for word in words_of(value.split(", ")[0])]
    return bool(words) and set(words) <= title
