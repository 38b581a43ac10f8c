"""Splits one category by what differs among its best hits: kind, use, material, brand, colour, size, price.

One field makes the rows, so that they divide the products instead of showing them twice; a second field
only joins where the first gives fewer than three.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search_proxy.filters import Filter, TermFilter
from search_proxy.models import FacetField, FacetRange, FacetsRequest, Hit
from worker.planning.catalog_bands import PriceBand, band_name, facet_count
from worker.planning.catalog_groups import hit_values, rank_weight
from worker.planning.catalog_labels import category_label, clip, title_case, value_label
from worker.planning.catalog_roles import Roles, plain_name
from worker.planning.catalog_rows import MINIMUM_HITS, Row, overlap, scoped, type_label
from worker.planning.catalog_vocabulary import Vocabulary

MAX_FIELDS = 4
"""Fields whose values are counted before one is chosen."""
_MIN_COVERAGE = 0.4
_MAX_VALUE_CHARACTERS = 30
_TYPE_BALANCE = 0.5
_UNSEEN_SHARE = 0.02
_USE = re.compile(
    r"\b(?:use|usage|activity|activities|occasions?|seasons?|tags?|features?|room|capacity|persons|purpose|theme|pattern|shape"
    r"|style|compatible|fit|flavou?r|age|form factor|kind|finish|cut|length|connectivity)\b"
)
_PURPOSE = re.compile(r"\b(?:use|usage|activity|activities|occasions?|purpose|room)\b")
_NOISE = re.compile(
    r"\b(?:origin|certification|warranty|guarantee|package|packaging|weight|temperature|humidity|altitude"
    r"|dimensions?|quantity|code|series|version|status|visible|care|promise|collections?|condition|rohs"
    r"|compliance)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitField:
    """A field that differs among the hits; `values` in the order of their rank-weighted share."""

    name: str
    score: float
    values: Mapping[str, float]
    hits: Mapping[str, frozenset[str]]
    coverage: float


def split_fields(hits: Sequence[Hit], vocabulary: Vocabulary, taken: frozenset[str]) -> list[SplitField]:
    """Return the fields that divide the hits best, leaving out those that the query has already settled."""
    present = Counter(name for hit in hits for name in hit)
    taken |= frozenset(vocabulary.roles.categories)
    candidates = sorted(
        name
        for name, count in present.items()
        if count >= _MIN_COVERAGE * len(hits)
        and name in vocabulary.choices
        and name not in taken
        and not _NOISE.search(plain_name(name))
    )
    found = [split for name in candidates if (split := _measure(name, hits, vocabulary.roles)) is not None]
    return sorted(found, key=lambda split: (-split.score, split.name))[:MAX_FIELDS]


def split_facets(
    fields: Sequence[SplitField], bands: Sequence[PriceBand], roles: Roles
) -> FacetsRequest | None:
    """Return the facets that count what the rows would hold."""
    facets = [FacetField(name=split.name, max_results=100) for split in fields]
    if bands and roles.price:
        ranges = tuple(FacetRange(start=band.lower, end=band.upper, name=band_name(band)) for band in bands)
        facets.append(FacetField(name=roles.price, kind="number", ranges=ranges))
    return FacetsRequest(fields=tuple(facets)) if facets else None


def split_rows(
    category: str,
    scope: Filter | None,
    fields: Sequence[SplitField],
    facets: Mapping[str, Mapping[str, Any]],
    roles: Roles,
    hits: Sequence[Hit],
    limit: int,
) -> list[Row]:
    """Return rows that divide one category, from the best field and, where it gives few, the next."""
    rows: list[Row] = []
    for split in fields:
        for row in _rows_of(split, category, scope, facets.get(split.name, {}), roles, hits):
            if any(row.label.casefold() == other.label.casefold() for other in rows):
                continue
            if any(overlap(row.hits, other.hits) > 0.5 for other in rows):
                continue
            rows.append(row)
        if len(rows) >= 3:
            break
    return rows[:limit]


def _measure(name: str, hits: Sequence[Hit], roles: Roles) -> SplitField | None:
    weights: dict[str, float] = defaultdict(float)
    spelling: dict[str, str] = {}
    members: dict[str, set[str]] = defaultdict(set)
    covered = 0
    total = 0.0
    for rank, hit in enumerate(hits):
        total += rank_weight(rank)
        values = hit_values(hit, name)
        covered += bool(values)
        for value in values[:4]:
            key = value.casefold().strip()
            spelling.setdefault(key, value)
            weights[key] += rank_weight(rank) / len(values[:4])
            members[key].add(str(hit["_id"]))
    enough = 1 if name in roles.types else 2
    usable = {
        key: weight / total
        for key, weight in weights.items()
        if _is_readable(spelling[key]) and len(members[key]) >= enough
    }
    coverage = covered / max(1, len(hits))
    if len(usable) < enough or coverage < _MIN_COVERAGE:
        return None
    kept = dict(sorted(usable.items(), key=lambda item: (-item[1], item[0]))[:6])
    sure = sum(kept.values())
    balance = 1.0 - sum((share / sure) ** 2 for share in kept.values())
    if name in roles.types:
        # The counts may know kinds that the best hits do not show, so one kind among them is no objection.
        balance = max(balance, _TYPE_BALANCE)
    return SplitField(
        name=name,
        score=_prior(name, roles) * coverage * sure * balance,
        values={spelling[key]: share for key, share in kept.items()},
        hits={spelling[key]: frozenset(members[key]) for key in kept},
        coverage=coverage,
    )


def _prior(name: str, roles: Roles) -> float:
    """Return how useful a field of that name is to a shopper, before looking at its values."""
    plain = plain_name(name)
    if name in roles.types:
        return 2.0
    if name in roles.brands or name in roles.materials:
        return 0.9
    if _USE.search(plain):
        return 1.0
    if name in roles.colours:
        return 0.7
    if name in roles.sizes:
        return 0.4
    return 0.45


def _is_readable(value: str) -> bool:
    letters = sum(character.isalpha() for character in value)
    return (
        1 <= len(value) <= _MAX_VALUE_CHARACTERS
        and (letters >= len(value) / 2 or value.isalpha())
        and "," not in value
    )


def _rows_of(
    split: SplitField,
    category: str,
    scope: Filter | None,
    counts: Mapping[str, Any],
    roles: Roles,
    hits: Sequence[Hit],
) -> list[Row]:
    by_key = {str(value).casefold().strip(): facet_count(facet) for value, facet in counts.items()}
    rows = []
    shares = dict(split.values)
    if split.name in roles.types:
        seen = {value.casefold().strip() for value in shares}
        shares |= {
            str(value): _UNSEEN_SHARE
            for value in counts
            if str(value).casefold().strip() not in seen and _is_readable(str(value).split(", ")[0])
        }
    for value, share in shares.items():
        products = by_key.get(value.casefold().strip(), 0)
        if products < MINIMUM_HITS:
            continue
        rows.append(
            Row(
                label=_split_label(split.name, value, category, roles, hits),
                filter=scoped(scope, TermFilter(split.name, value)),
                share=share,
                hits=split.hits.get(value, frozenset()),
                products=products,
                category=category,
            )
        )
    return rows


def _split_label(name: str, value: str, category: str, roles: Roles, hits: Sequence[Hit]) -> str:
    if name in roles.types:
        return type_label(category, value, hits, name)
    thing = category_label(category) if category else ""
    shown = value_label(value)
    if name in roles.sizes:
        return clip(f"{thing} in Size {shown}".strip())
    if _PURPOSE.search(plain_name(name)) and thing:
        return clip(f"{thing} for {shown}")
    if name in roles.audiences:
        return clip(f"{thing} for {title_case(value)}" if thing else f"For {title_case(value)}")
    return clip(f"{shown} {thing}".strip())
