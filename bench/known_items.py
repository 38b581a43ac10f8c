"""Questions whose answer is one product of the real electronics catalog, made from what its title leaves out.

A question names the brand and three attributes whose values stand neither in the title nor in the
description; no other product of the catalog has all of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search_proxy.engine.searchable_text import name_words

FACTS = 3
_NOT_FACTS = frozenset(
    {
        *("_id", "parentProductId", "productTitle", "description", "brand", "price", "currency", "mpn"),
        *("variantImageUrl", "ean", "category", "date_released", "image"),
    }
)


@dataclass(frozen=True, slots=True)
class Fact:
    """An attribute as a person would say it: the words of its name, and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question, the facts in it, and the product that is meant."""

    question: str
    brand: str
    facts: tuple[Fact, ...]
    answer: str


def known_items(products: Sequence[Mapping[str, Any]], count: int, seed: int = 5) -> list[KnownItem]:
    """Return `count` questions, the same ones for the same seed."""
    chance = random.Random(seed)
    owners: dict[tuple[str, str, str], set[str]] = {}
    for product in products:
        for field, value in _facts(product):
            owners.setdefault((product["brand"], field, value), set()).add(product["_id"])
    items: list[KnownItem] = []
    for product in chance.sample(list(products), len(products)):
        if len(items) == count:
            break
        held_back = [fact for fact in _facts(product) if not _is_told(product, fact[1])]
        if len(held_back) < FACTS:
            continue
        for _ in range(10):
            chosen = chance.sample(held_back, FACTS)
            sets = [owners[product["brand"], field, value] for field, value in chosen]
            if set.intersection(*sets) == {product["_id"]}:
                items.append(_item(product, chosen))
                break
    return items


def _item(product: Mapping[str, Any], chosen: Sequence[tuple[str, str]]) -> KnownItem:
    facts = tuple(Fact(name_words(field), value) for field, value in chosen)
    said = ", ".join(f"{fact.name} {fact.value}" for fact in facts)
    question = f"Which {product['brand']} product has {said}?"
    return KnownItem(question, product["brand"], facts, product["_id"])


def _facts(product: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (field, written(value))
        for field, value in product.items()
        if field not in _NOT_FACTS
        and not isinstance(value, bool | list)
        and len(written(value)) <= 40
        and not written(value).startswith("http")
    ]


def written(value: Any) -> str:
    """Return a value as a person writes it."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _is_told(product: Mapping[str, Any], value: str) -> bool:
    told = f"{product['productTitle']} {product.get('description', '')}".casefold()
    return value.casefold() in told
