"""Groups the best hits of a query by category.

A category's share is the part of the best hits that lies in it, each hit counting by its rank and by how
much of the query it covers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_proxy.filters import Filter, OrFilter, TermFilter
from search_proxy.models import Hit
from worker.planning.catalog_coverage import coverages
from worker.planning.catalog_words import singular, words_of

READ_HITS = 40
"""How many of the best hits speak for a category. Source: docs/strategies.md."""
COVERAGE_POWER = 2.0
"""A hit that covers half of the query counts a quarter. Source: docs/strategies.md."""
NAMED_WEIGHT = 0.5
"""How much a category that the query names moves ahead of one that only has more hits."""
DOMINANT_SHARE = 0.8
"""From here on the hits agree on one category, and choices within it serve better."""
NAMED_DOMINANT_SHARE = 0.5
"""The same where the query itself names the category."""

_BEST_HITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The best hits of one category; `fields` are those that name it.

    `named` says how far the query names the category, `covered` how much of the query its best hits cover.
    """

    value: str
    fields: tuple[str, ...]
    share: float
    hits: tuple[Hit, ...]
    named: float = 0.0
    covered: float = 1.0

    @property
    def weight(self) -> float:
        """Return what orders the groups: the share, more where the topic names the category."""
        return self.share * (1.0 + NAMED_WEIGHT * self.named)

    @property
    def is_settled(self) -> bool:
        """Say whether the hits agree on this category, so that choices within it serve better."""
        return self.share >= (NAMED_DOMINANT_SHARE if self.named else DOMINANT_SHARE)

    @property
    def filter(self) -> Filter:
        """Return the filter that selects the category, under each field that names it."""
        merged: Filter = TermFilter(self.fields[0], self.value)
        for name in self.fields[1:]:
            merged = OrFilter(merged, TermFilter(name, self.value))
        return merged


def group_hits(hits: Sequence[Hit], fields: Sequence[str], topic: str = "", head: str = "") -> list[Group]:
    """Return the categories of the best hits, the largest share first.

    `head` is the noun of the sentence. A category that it names weighs more: "gaming keyboard" means
    keyboards, whatever else says so.
    """
    weights: dict[str, float] = defaultdict(float)
    members: dict[str, list[Hit]] = defaultdict(list)
    names: dict[str, dict[str, str]] = defaultdict(dict)
    measured: dict[str, list[float]] = defaultdict(list)
    read = hits[:READ_HITS]
    for rank, (hit, covered) in enumerate(zip(read, coverages(read, topic), strict=True)):
        field, values = _category_of(hit, fields)
        if not values:
            continue
        weight = rank_weight(rank) * covered**COVERAGE_POWER
        for value in values:
            key = value.casefold()
            weights[key] += weight / len(values)
            members[key].append(hit)
            names[key].setdefault(field, value)
            measured[key].append(covered)
    said = [singular(word) for word in words_of(topic)]
    total = sum(weights.values()) or 1.0
    groups = [
        Group(
            value=next(iter(names[key].values())),
            fields=tuple(names[key]),
            share=weight / total,
            hits=tuple(members[key]),
            named=affinity(key, said, singular(head)),
            covered=_best(measured[key]),
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


def affinity(category: str, topic: Sequence[str], head: str) -> float:
    """Return how far the query names the category: 1 in full, 0.5 its noun alone, else 0."""
    best = 0.0
    for name in category.split("/"):
        words = [singular(word) for word in words_of(name)]
        if words and words[-1] == head:
            best = max(best, 1.0 if set(words) <= set(topic) else 0.5)
    return best


def in_group(hit: Hit, group: Group) -> bool:
    """Say whether a hit lies in the group's category, whatever its rank."""
    key = group.value.casefold()
    return any(key == value.casefold() for name in group.fields for value in hit_values(hit, name))


def rank_weight(rank: int) -> float:
    """Return how much the hit at a rank (from 0) says about the query."""
    return 1.0 / (rank + 4)


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


def _best(measured: Sequence[float]) -> float:
    best = sorted(measured, reverse=True)[:_BEST_HITS]
    return sum(best) / len(best)
