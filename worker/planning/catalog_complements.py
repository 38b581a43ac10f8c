"""Offers follow-up queries that the catalog is known to answer, made of what the best hits are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from search_proxy.models import Hit
from worker.planning.catalog_decision import Decision
from worker.planning.catalog_groups import Group, hit_values
from worker.planning.catalog_labels import category_label, money
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_rows import MINIMUM_HITS, is_meant
from worker.planning.catalog_words import words_of

MAX_COMPLEMENTS = 4
_MAX_VALUE_WORDS = 2
_MAX_VALUE_WORDS = 2
_CHEAP_PART = 3
"""The cheapest third is "the cheaper ones"."""


def complements(
    decision: Decision, groups: Sequence[Group], hits: Sequence[Hit], roles: Roles, offered: Sequence[str]
) -> list[str]:
    """Return up to four follow-up queries; each names only what at least three of the hits have.

    `offered` are the labels of the rows, which need not be offered again.
    """
    if not groups:
        return []
    settled = {demand.role for demand in decision.demands.demands}
    found: list[str] = []
    lead = groups[0]
    thing = category_label(lead.value).lower()
    if "price" not in settled:
        found += _cheaper(lead.hits if len(lead.hits) >= 2 * MINIMUM_HITS else hits, thing, roles, decision)
    for role, fields in (
        ("brand", roles.brands[:1]),
        ("material", roles.materials[:1]),
        ("colour", roles.colours[:1]),
    ):
        if role not in settled:
            value = _common_value(lead.hits, fields, decision.topic)
            if value is not None:
                found.append(f"{value} {thing}" if role == "brand" else f"{value.lower()} {thing}")
    found += [
        category_label(group.value).lower()
        for group in groups[1:]
        if len(group.hits) >= MINIMUM_HITS and is_meant(group)
    ]
    known = {label.casefold() for label in offered} | {decision.topic.casefold()}
    fresh = [text for text in dict.fromkeys(found) if text.casefold() not in known]
    return fresh[:MAX_COMPLEMENTS]


def _cheaper(hits: Sequence[Hit], thing: str, roles: Roles, decision: Decision) -> list[str]:
    priced = sorted(
        float(value)
        for hit in hits
        if roles.price
        and isinstance(value := hit.get(roles.price), int | float)
        and not isinstance(value, bool)
    )
    if len(priced) < 2 * MINIMUM_HITS:
        return []
    limit = priced[max(MINIMUM_HITS - 1, len(priced) // _CHEAP_PART)]
    step = next(
        step
        for bound, step in ((10, 1), (50, 5), (200, 10), (1_000, 50), (float("inf"), 100))
        if limit < bound
    )
    rounded = float(-(-limit // step) * step)
    if rounded <= priced[0] or rounded >= priced[-1]:
        return []
    currency = next((str(hit["currency"]) for hit in hits if hit.get("currency")), None)
    return [f"{thing} under {money(rounded, currency)}"]


def _common_value(hits: Sequence[Hit], fields: Sequence[str], topic: str) -> str | None:
    said = set(words_of(topic))
    counts: Counter[str] = Counter()
    for name in fields:
        for hit in hits:
            counts.update(set(hit_values(hit, name)))
    for value, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        words = words_of(value)
        is_plain = len(words) <= _MAX_VALUE_WORDS and "," not in value and not any(map(str.isdigit, value))
        if MINIMUM_HITS <= count < len(hits) and is_plain and not said & set(words):
            return value
    return None
