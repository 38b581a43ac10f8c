"""Chooses the categories that the best hits speak for.

A category's share is the rank-weighted part of the best hits that lie in it. Where a finer type field says
more than a broad category ("Accessories"), the type names the row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_proxy.filters import AndFilter, Filter, OrFilter, TermFilter
from search_proxy.models import Hit
from worker.planning.catalog_coverage import coverage, topic_stems
from worker.planning.catalog_labels import category_label, clip, title_case
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_words import singular, words_of

READ_HITS = 40
"""How many of the best hits speak for a category: precision falls beyond. Source: docs/strategies.md."""
NAMED_WEIGHT = 0.5
COVERAGE_POWER = 2.0
MINIMUM_HITS = 3
"""A row with fewer products is no choice."""
MINIMUM_SHARE = 0.05
FEW_ROWS = 3
MINIMUM_SHARE_OF_FEW = 0.03
"""With fewer than three rows, weaker categories are let in: a sentence often has no single aim."""
DOMINANT_SHARE = 0.8
"""From here on the hits agree on one category, and choices within it serve better."""
_TYPE_SHARE = 0.7
_IN_TITLES = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row that could be offered: `share` 0..1 of the best hits, `products` as counted by the index."""

    label: str
    filter: Filter
    share: float
    hits: frozenset[str]
    products: int | None = None
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The best hits of one category; `fields` are those that name it."""

    value: str
    fields: tuple[str, ...]
    share: float
    hits: tuple[Hit, ...]
    named: float = 0.0

    @property
    def weight(self) -> float:
        """Return what orders the groups: the share, more where the topic names the category."""
        return self.share * (1.0 + NAMED_WEIGHT * self.named)

    @property
    def filter(self) -> Filter:
        """Return the filter that selects the category, under each field that names it."""
        merged: Filter = TermFilter(self.fields[0], self.value)
        for name in self.fields[1:]:
            merged = OrFilter(merged, TermFilter(name, self.value))
        return merged


def group_hits(hits: Sequence[Hit], fields: Sequence[str], topic: str = "") -> list[Group]:
    """Return the categories of the best hits, the largest share first.

    A category that the topic names weighs more: "gaming keyboard" means keyboards, whatever else says so.
    """
    weights: dict[str, float] = defaultdict(float)
    members: dict[str, list[Hit]] = defaultdict(list)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    stems = topic_stems(topic)
    for rank, hit in enumerate(hits[:READ_HITS]):
        field, values = _category_of(hit, fields)
        if not values:
            continue
        weight = rank_weight(rank) * coverage(hit, stems) ** COVERAGE_POWER
        for value in values:
            key = value.casefold()
            weights[key] += weight / len(values)
            members[key].append(hit)
            names[key].setdefault(field, value)
    said = [singular(word) for word in words_of(topic)]
    total = sum(weights.values()) or 1.0
    groups = [
        Group(
            value=next(iter(names[key].values())),
            fields=tuple(names[key]),
            share=weight / total,
            hits=tuple(members[key]),
            named=affinity(key, said),
        )
        for key, weight in weights.items()
    ]
    return sorted(groups, key=lambda group: (-group.weight, group.value))


def group_counts(
    hits: Sequence[Hit], fields: Sequence[str], facets: Mapping[str, Mapping[str, Any]]
) -> list[Group]:
    """Return the categories by how many products they have, for a browse, whose order says nothing."""
    counts: dict[str, int] = defaultdict(int)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for field in fields:
        for value, facet in facets.get(field, {}).items():
            counts[value.casefold()] += int(facet["count"])
            names[value.casefold()].setdefault(field, value)
    total = sum(counts.values())
    groups = []
    for key, count in counts.items():
        group = Group(
            value=next(iter(names[key].values())), fields=tuple(names[key]), share=count / total, hits=()
        )
        groups.append(replace(group, hits=tuple(hit for hit in hits if in_group(hit, group))))
    return sorted(groups, key=lambda group: (-group.share, group.value))


def is_named(group: Group, category: str) -> bool:
    """Say whether a group is that of a category."""
    return group.value.casefold() == category.casefold()


def with_named(groups: Sequence[Group], field: str, category: str, hits: Sequence[Hit]) -> list[Group]:
    """Return the groups led by the category that the topic names in so many words.

    A rarer word beside it may have drawn all the best hits elsewhere: "bedding for hot sleepers" is bedding.
    """
    others = [replace(group, share=group.share / 2) for group in groups if not is_named(group, category)]
    lead = Group(value=category, fields=(field,), share=0.5, hits=tuple(hits), named=1.0)
    return [lead, *others]


def affinity(category: str, topic: Sequence[str]) -> float:
    """Return how far the topic names the category: 1 whole and last, 0.5 its head noun somewhere, else 0."""
    best = 0.0
    for name in category.split("/"):
        words = [singular(word) for word in words_of(name)]
        if not words or words[-1] not in topic:
            continue
        whole = set(words) <= set(topic) and topic[-1] == words[-1]
        best = max(best, 1.0 if whole else 0.5)
    return best


def in_group(hit: Hit, group: Group) -> bool:
    """Say whether a hit lies in the group's category, whatever its rank."""
    key = group.value.casefold()
    return any(key == value.casefold() for name in group.fields for value in hit_values(hit, name))


def rank_weight(rank: int) -> float:
    """Return how much the hit at a rank (from 0) says about the query."""
    return 1.0 / (rank + 4)


def category_rows(groups: Sequence[Group], roles: Roles, limit: int) -> list[Row]:
    """Return one row per category that the hits speak for, the strongest first."""
    strong = [group for group in groups if group.share >= MINIMUM_SHARE]
    if len(strong) < FEW_ROWS:
        strong = [group for group in groups if group.share >= MINIMUM_SHARE_OF_FEW][:FEW_ROWS]
    rows: list[Row] = []
    for group in strong:
        row = _row(group, roles)
        if all(row.label.casefold() != other.label.casefold() for other in rows) and not any(
            overlap(row.hits, other.hits) > 0.6 for other in rows
        ):
            rows.append(row)
    return rows[:limit]


def overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the share of the smaller set that both have."""
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0


def hit_values(hit: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """Return a hit's values of a field as text, none for an absent or empty one."""
    value = hit.get(field)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, list | tuple):
        return tuple(item for item in value if isinstance(item, str) and item.strip())
    return ()


def _category_of(hit: Hit, fields: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    for name in fields:
        values = hit_values(hit, name)
        if values:
            return name, values[:4]
    return "", ()


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
        )
    return Row(
        label=category_label(group.value),
        filter=group.filter,
        share=group.share,
        hits=ids,
        category=group.value,
    )


def repeats(kind: str, category: str) -> bool:
    """Say whether a type only repeats the category: "Notebook" within "notebook"."""
    return [singular(word) for word in words_of(kind)] == [singular(word) for word in words_of(category)]


def type_label(category: str, kind: str, hits: Sequence[Hit], field: str) -> str:
    """Return the label of a type within a category: alone where titles call the things that.

    An adjective ("Original") stands before the category, anything else after it.
    """
    shown = Counter(True for hit in hits for value in hit_values(hit, field)[:1] if _in_title(value, hit))
    if hits and shown.total() >= _IN_TITLES * len(hits):
        head = [singular(word) for word in words_of(category)][-1:]
        single = len(words_of(kind)) == 1
        if single and head and sum(_in_title(head[0], hit) for hit in hits) >= len(hits) / 2:
            return clip(f"{title_case(kind)} {category_label(category)}")
        return category_label(kind)
    return clip(f"{category_label(category)}: {title_case(kind)}")


def _in_title(value: str, hit: Hit) -> bool:
    title = {singular(word) for word in words_of(str(hit.get("productTitle", "")))}
    words = [singular(word) for word in words_of(value.split(", ")[0])]
    return bool(words) and set(words) <= title
