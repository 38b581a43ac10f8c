"""Shoppers in many wordings, over real HTTP without a model: each answer's promises are checked on its hits.

The conversations are in `shoppers.py`, one per paragraph, a promise being one word or `name=value`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from search_proxy.sample_store import load_sample
from tests.support.shop import Shop, open_shop
from tests.support.talk import Said, Talk
from tests.worker.planning.thread_player import retail_documents
from tests.worker.shoppers import ELECTRONICS, RETAIL, SAMPLE_STORE
from worker.planning.thread_sizes import measure

pytestmark = pytest.mark.anyio

Hits = list[dict[str, Any]]


@dataclass(slots=True)
class Turns:
    """A conversation so far: the pages that were searched, and what was picked of the last since."""

    pages: list[Hits] = field(default_factory=list)
    picked: Hits = field(default_factory=list)
    said: Said = field(default_factory=lambda: Said([]))

    @property
    def hits(self) -> Hits:
        """The hits of the present answer."""
        return self.said.hits

    def before(self, value: str) -> Hits:
        """Return what a comparison is with: what was picked last, or the last page."""
        if value == "last":
            return self.pages[-1][-1:]
        return self.pages[int(value) - 1] if value else self.picked or self.pages[-1]


def prices(hits: Hits) -> list[float]:
    """Return the prices of hits."""
    return [hit["price"] for hit in hits]


def text_of(hit: dict[str, Any]) -> str:
    """Return everything that a hit says, in lower case."""
    return json.dumps(hit, default=str).lower()


def has_word(hit: dict[str, Any], words: str) -> bool:
    """Return whether a hit says one of some words."""
    return re.search(rf"\b(?:{words})", text_of(hit)) is not None


def within(hit: dict[str, Any], limits: str) -> bool:
    """Return whether a price lies in limits like `20..40`."""
    low, high = limits.split("..")
    return float(low or 0) <= float(hit["price"]) <= float(high or 1e9)


def is_larger(turns: Turns) -> bool:
    """Return whether every size is larger than the largest of the page before."""
    known = [found for hit in turns.pages[-1] if (found := measure(str(hit.get("size", "")))) is not None]
    sizes = [measure(str(hit["size"])) for hit in turns.hits]
    return all(size is not None and size > max(known) for size in sizes)


def ids(hits: Hits) -> list[str]:
    """Return the ids of hits."""
    return [hit["_id"] for hit in hits]


def parents(hits: Hits) -> set[str]:
    """Return the products of hits, whatever the variant."""
    return {hit.get("parentProductId") or hit["_id"] for hit in hits}


def place(value: str) -> int:
    """Return the index that a position, counted from one or from the end, stands for."""
    return int(value) - 1 if int(value) > 0 else int(value)


ABOUT_A_HIT: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "category": lambda hit, value: bool(hit["category"] == value),
    "style": lambda hit, value: bool(hit["style"] == value),
    "colour": lambda hit, value: hit["colorFamily"] in value.split(","),
    "notcolour": lambda hit, value: value not in (hit["colorFamily"], hit["color"]),
    "brand": lambda hit, value: bool(hit["brand"] == value),
    "nobrand": lambda hit, value: bool(hit["brand"] != value),
    "size": lambda hit, value: bool(hit["size"] == value),
    "gender": lambda hit, value: hit.get("gender") in value.split(","),
    "material": lambda hit, value: value in hit["material"],
    "color": lambda hit, value: any(name in str(hit["color"]) for name in value.split("|")),
    "nocolor": lambda hit, value: value not in str(hit.get("color")),
    "nomaterial": lambda hit, value: value not in hit["material"],
    "persons": lambda hit, value: bool(hit["persons"] == int(value)),
    "stock": lambda hit, _: bool(hit["inStock"]),
    "price": within,
    "text": has_word,
    "no": lambda hit, value: not has_word(hit, rf"{value}\b"),
}
ABOUT_THE_ANSWER: dict[str, Callable[[Turns, str], bool]] = {
    "none": lambda turns, _: turns.hits == [] and bool(turns.said.text),
    "asks": lambda turns, _: turns.said.categories == [] and bool(turns.said.text),
    "says": lambda turns, value: any(part in turns.said.text for part in value.split("|")),
    "count": lambda turns, value: len(turns.hits) == int(value),
    "pick": lambda turns, value: ids(turns.hits) == [ids(turns.pages[-1])[place(value)]],
    "cheapest": lambda turns, value: (
        prices(turns.hits) == [min(prices(turns.pages[-1][: int(value) if value else None]))]
    ),
    "dearest": lambda turns, _: prices(turns.hits) == [max(prices(turns.pages[-1]))],
    "cheaper": lambda turns, value: max(prices(turns.hits)) < min(prices(turns.before(value))),
    "dearer": lambda turns, value: min(prices(turns.hits)) > max(prices(turns.before(value))),
    "sorted": lambda turns, value: prices(turns.hits) == sorted(prices(turns.hits), reverse=bool(value)),
    "rated": lambda turns, _: (
        [hit["rating"] for hit in turns.hits] == sorted((hit["rating"] for hit in turns.hits), reverse=True)
    ),
    "larger": lambda turns, _: is_larger(turns),
    "fresh": lambda turns, value: (
        not parents(turns.hits) & parents(turns.pages[-1][: int(value)] if value else turns.picked)
    ),
    "new-or-none": lambda turns, _: not set(ids(turns.hits)) & set(ids(turns.pages[-1])),
}
MAY_BE_EMPTY = {"none", "asks", "new-or-none"}


def broken(turns: Turns, promise: str) -> bool:
    """Return whether an answer does not keep a promise."""
    name, _, value = promise.partition("=")
    if name in ABOUT_A_HIT:
        return not all(ABOUT_A_HIT[name](hit, value.replace("_", " ")) for hit in turns.hits)
    return not ABOUT_THE_ANSWER[name](turns, value.replace("_", " "))


def conversations(text: str) -> Iterator[list[tuple[str, list[str]]]]:
    """Yield the conversations of a text as sentences with their promises."""
    for paragraph in text.strip().split("\n\n"):
        lines = (line.split("|", 1) for line in paragraph.splitlines())
        yield [(sentence.strip(), promises.split()) for sentence, promises in lines]


async def failures(shop: Shop, text: str) -> list[str]:
    """Play every conversation and return what was promised and not kept."""
    found: list[str] = []
    for conversation in conversations(text):
        talk, turns = Talk(shop.client, {"attributesToRetrieve": ["*"]}), Turns()
        for sentence, promises in conversation:
            turns.said = await talk.say(sentence)
            names = {promise.partition("=")[0] for promise in promises}
            is_only_said = names <= {"says"}
            if not turns.hits and not names & MAY_BE_EMPTY and not is_only_said:
                found.append(f"{sentence!r} found nothing: {turns.said.text}")
                continue
            found += [
                f"{sentence!r} is not {promise}: {turns.said.text} {ids(turns.hits)}"
                for promise in promises
                if broken(turns, promise)
            ]
            showed = turns.said.receipt["strategy"] != "no_match" and bool(turns.hits)
            if showed and turns.said.text.startswith(("Here: ", "More: ")):
                turns.pages.append(turns.hits)
                turns.picked = []
            elif showed:
                turns.picked = turns.hits
    return found


async def test_shoppers_of_the_sample_store_get_what_they_say(tmp_path: Path) -> None:
    """Ten conversations, on a catalog with fields for everything."""
    async with open_shop(tmp_path, load_sample()) as shop:
        found = await failures(shop, SAMPLE_STORE)
    assert found == []


async def test_shoppers_of_a_catalog_with_few_fields_get_what_they_say(
    tmp_path: Path, shared_data: Path
) -> None:
    """Five conversations, on a catalog that says colours and materials only in its texts."""
    async with open_shop(tmp_path, retail_documents(shared_data)) as shop:
        found = await failures(shop, RETAIL)
    assert found == []


async def test_shoppers_of_real_electronics_get_what_they_say(tmp_path: Path, shared_data: Path) -> None:
    """Two conversations, on four categories of real products."""
    async with open_shop(tmp_path, electronics(shared_data)) as shop:
        found = await failures(shop, ELECTRONICS)
    assert found == []


def electronics(shared_data: Path) -> list[dict[str, Any]]:
    """Return the keyboards, mice, headphones and notebooks of a real catalog."""
    wanted = {"keyboard", "mouse", "headphones", "notebook"}
    with gzip.open(shared_data / "icecat" / "products.jsonl.gz", "rt") as lines:
        records = [record for record in map(json.loads, lines) if record["derived_class"] in wanted]
    return [
        {
            "_id": record["id"],
            "productTitle": record["title"],
            "category": record["derived_class"],
            "price": record["price_eur"],
            "currency": "EUR",
            **{name: record[name] for name in ("brand", "description") if record.get(name)},
            **({"color": colour} if (colour := record["attributes"].get("product_colour")) else {}),
        }
        for record in records
        if record.get("price_eur")
    ]
