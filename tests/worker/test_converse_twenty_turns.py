"""Whole conversations without a model, over real HTTP: each turn's promise checked on the hits themselves.

One on the sample store, whose products have fields for everything, one on a catalog that has neither
colour nor brand nor material fields. The phrasings of each kind of turn are of more than one kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from search_proxy.sample_store import load_sample
from tests.support.shop import open_shop
from tests.support.talk import Talk
from tests.worker.planning.thread_player import retail_documents

pytestmark = pytest.mark.anyio

EVERYTHING = {"attributesToRetrieve": ["*"]}


@pytest.fixture
async def sample(tmp_path: Path) -> AsyncIterator[Talk]:
    """Open a conversation about the sample store."""
    async with open_shop(tmp_path, load_sample()) as shop:
        yield Talk(shop.client, EVERYTHING)


@pytest.fixture
async def retail(tmp_path: Path, shared_data: Path) -> AsyncIterator[Talk]:
    """Open a conversation about the retail catalog."""
    async with open_shop(tmp_path, retail_documents(shared_data)) as shop:
        yield Talk(shop.client, EVERYTHING)


def text_of(hit: dict[str, Any]) -> str:
    """Return everything that a hit says, in lower case."""
    return json.dumps(hit, default=str).lower()


def says(hits: Iterable[dict[str, Any]], word: str) -> list[bool]:
    """Return for each hit whether it says the word."""
    return [re.search(rf"\b{word}\b", text_of(hit)) is not None for hit in hits]


async def test_twenty_turns_on_the_sample_store(sample: Talk) -> None:
    """Every turn keeps its promise on a catalog with fields for everything."""
    said = await sample.say("I am looking for a rain jacket")
    assert {hit["category"] for hit in said.hits} == {"Rain Jackets"}

    before = min(said.prices)
    said = await sample.say("too expensive")
    assert said.hits
    assert max(said.prices) < before

    ids = said.ids
    said = await sample.say("the second one")
    assert said.ids == [ids[1]]

    said = await sample.say("what about the first?")
    assert said.ids == [ids[0]]

    dearest = max(said.prices)
    said = await sample.say("something more expensive")
    assert said.hits
    assert min(said.prices) > dearest

    said = await sample.say("price doesn't matter, but not black")
    assert said.hits
    assert not any("black" in {hit["color"], hit["colorFamily"]} for hit in said.hits)

    seen = set(said.ids)
    said = await sample.say("show me more")
    assert said.hits
    assert not seen & set(said.ids)

    said = await sample.say("do you have it in green?")
    assert said.hits
    assert {hit["colorFamily"] for hit in said.hits} == {"green"}

    said = await sample.say("blue instead please, from Skarvane")
    assert {(hit["colorFamily"], hit["brand"]) for hit in said.hits} == {("blue", "Skarvane")}

    said = await sample.say("any brand, any colour, size L")
    assert {hit["size"] for hit in said.hits} == {"L"}
    assert len({hit["colorFamily"] for hit in said.hits}) > 1

    said = await sample.say("only the ones that are in stock")
    assert all(hit["inStock"] for hit in said.hits)

    said = await sample.say("between 100 and 140")
    assert said.hits
    assert all(100 <= price <= 140 for price in said.prices)

    said = await sample.say("not under 120")
    assert said.hits
    assert all(120 <= price <= 140 for price in said.prices)

    chosen = said.hits[-1]
    said = await sample.say("more like the last one")
    assert said.hits
    assert {hit["category"] for hit in said.hits} == {"Rain Jackets"}
    assert chosen["parentProductId"] not in {hit["parentProductId"] for hit in said.hits}

    said = await sample.say("start over")
    assert said.categories == []
    assert said.receipt["strategy"] == "no_match"

    said = await sample.say("blankets")
    assert {hit["category"] for hit in said.hits} == {"Throws & Blankets"}

    said = await sample.say("without wool")
    assert said.hits
    assert not any("wool" in text_of(hit) or "merino" in text_of(hit) for hit in said.hits)

    before = min(said.prices)
    said = await sample.say("cheaper, and no polyester")
    assert all(price < before for price in said.prices)
    assert not any(says(said.hits, "polyester"))
    assert not any("wool" in text_of(hit) for hit in said.hits)

    said = await sample.say("now show me tents under $400")
    assert {hit["category"] for hit in said.hits} == {"Tents"}
    assert max(said.prices) < 400

    cheapest = min(said.hits, key=lambda hit: float(hit["price"]))
    said = await sample.say("the cheapest one")
    assert said.ids == [cheapest["_id"]]


async def test_twenty_turns_on_a_catalog_without_colour_brand_or_material(retail: Talk) -> None:
    """What no field says is held by the texts; the promises are the same."""
    said = await retail.say("show me jackets")
    assert {hit["style"] for hit in said.hits} == {"jacket"}

    before = min(said.prices)
    said = await retail.say("something cheaper")
    assert said.hits
    assert max(said.prices) < before

    said = await retail.say("in blue")
    assert said.hits
    assert all(says(said.hits, "blue"))
    assert max(said.prices) < before

    ids = said.ids
    said = await retail.say("I like the last one")
    assert said.ids == [ids[-1]]

    said = await retail.say("start again: backpacks")
    assert {hit["style"] for hit in said.hits} == {"backpack"}

    said = await retail.say("nothing over 80")
    assert said.hits
    assert max(said.prices) <= 80

    said = await retail.say("no leather")
    assert said.hits
    assert not any(says(said.hits, "leather"))

    seen = set(said.ids)
    said = await retail.say("what else do you have?")
    assert said.hits
    assert not seen & set(said.ids)
    assert not any(says(said.hits, "leather"))

    said = await retail.say("over 40, and not black")
    assert said.hits
    assert all(40 < price <= 80 for price in said.prices)
    assert not any(says(said.hits, "black"))

    said = await retail.say("forget the price, in red or green")
    assert said.hits
    assert all(
        red or green for red, green in zip(says(said.hits, "red"), says(said.hits, "green"), strict=True)
    )

    chosen = said.hits[0]
    said = await retail.say("something similar to the first one")
    assert said.hits
    assert chosen["_id"] not in said.ids
    assert {hit["style"] for hit in said.hits} == {"backpack"}

    said = await retail.say("how about sofas instead")
    assert {hit["category"] for hit in said.hits} == {"furniture"}
    assert not any(says(said.hits, "leather"))

    said = await retail.say("anything less than $1000?")
    assert said.hits
    assert max(said.prices) < 1000

    dearest = max(said.prices)
    said = await retail.say("I only have 400")
    assert max(said.prices) <= 400 <= dearest

    said = await retail.say("in stock only")
    assert all(hit["current_stock"] > 0 for hit in said.hits)

    said = await retail.say("thanks")
    assert said.categories == []
    assert said.receipt["strategy"] == "no_match"

    said = await retail.say("I need a table")
    assert {hit["style"] for hit in said.hits} == {"tables"}

    dearest = max(said.prices)
    said = await retail.say("higher end")
    assert said.hits
    assert min(said.prices) > dearest

    ids = said.ids
    said = await retail.say("number 2")
    assert said.ids == [ids[1]]

    price = said.prices[0]
    said = await retail.say("a bit cheaper than that one")
    assert said.hits
    assert max(said.prices) < price

    said = await retail.say("the fifteenth")
    assert said.text
    assert [turn["number"] for turn in (await retail.stored())["interactions"]] == list(range(1, 22))
