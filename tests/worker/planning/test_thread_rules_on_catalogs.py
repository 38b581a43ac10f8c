"""Whole conversations without a model, each turn's postcondition checked on the hits themselves.

One on the sample store, whose products have fields for everything, one on a catalog that has neither
colour nor brand nor material fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from search_proxy.models import Hit
from tests.worker.planning.thread_player import Player, index, play, retail_documents, sample_documents

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Index the sample store once."""
    return index(tmp_path_factory.mktemp("sample"), sample_documents(ROOT))


@pytest.fixture(scope="module")
def retail_folder(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Path:
    """Index the retail catalog once."""
    return index(tmp_path_factory.mktemp("retail"), retail_documents(shared_data))


@pytest.fixture
async def sample(sample_folder: Path) -> AsyncIterator[Player]:
    """Open a conversation about the sample store."""
    async with play(sample_folder) as player:
        yield player


@pytest.fixture
async def retail(retail_folder: Path) -> AsyncIterator[Player]:
    """Open a conversation about the retail catalog."""
    async with play(retail_folder) as player:
        yield player


def text_of(hit: Hit) -> str:
    """Return everything that a hit says, in lower case."""
    return json.dumps(hit, default=str).lower()


def says(hits: Iterable[Hit], word: str) -> list[bool]:
    """Return for each hit whether it says the word."""
    return [re.search(rf"\b{word}\b", text_of(hit)) is not None for hit in hits]


async def test_twenty_turns_on_the_sample_store(sample: Player) -> None:
    """Every turn keeps its promise on a catalog with fields for everything."""
    await sample.say("I am looking for a rain jacket")
    assert {hit["category"] for hit in sample.hits} == {"Rain Jackets"}

    before = min(sample.prices())
    await sample.say("too expensive")
    assert sample.hits
    assert max(sample.prices()) < before

    ids = sample.ids()
    await sample.say("the second one")
    assert sample.ids() == [ids[1]]

    await sample.say("what about the first?")
    assert sample.ids() == [ids[0]]

    dearest = max(sample.prices())
    await sample.say("something more expensive")
    assert sample.hits
    assert min(sample.prices()) > dearest

    await sample.say("price doesn't matter, but not black")
    assert sample.hits
    assert not any("black" in {hit["color"], hit["colorFamily"]} for hit in sample.hits)

    seen = set(sample.ids())
    await sample.say("show me more")
    assert sample.hits
    assert not seen & set(sample.ids())

    await sample.say("do you have it in green?")
    assert sample.hits
    assert {hit["colorFamily"] for hit in sample.hits} == {"green"}

    await sample.say("blue instead please, from Skarvane")
    assert {(hit["colorFamily"], hit["brand"]) for hit in sample.hits} == {("blue", "Skarvane")}

    await sample.say("any brand, any colour, size L")
    assert {hit["size"] for hit in sample.hits} == {"L"}
    assert len({hit["colorFamily"] for hit in sample.hits}) > 1

    await sample.say("only the ones that are in stock")
    assert all(hit["inStock"] for hit in sample.hits)

    await sample.say("between 100 and 140")
    assert sample.hits
    assert all(100 <= price <= 140 for price in sample.prices())

    await sample.say("not under 120")
    assert sample.hits
    assert all(120 <= price <= 140 for price in sample.prices())

    chosen = sample.hits[-1]
    await sample.say("more like the last one")
    assert sample.hits
    assert {hit["category"] for hit in sample.hits} == {"Rain Jackets"}
    assert chosen["parentProductId"] not in {hit["parentProductId"] for hit in sample.hits}

    decision = await sample.say("start over")
    assert decision.kind == "answer"
    assert sample.state.is_empty

    await sample.say("blankets")
    assert {hit["category"] for hit in sample.hits} == {"Throws & Blankets"}

    await sample.say("without wool")
    assert sample.hits
    assert not any("wool" in text_of(hit) or "merino" in text_of(hit) for hit in sample.hits)

    before = min(sample.prices())
    await sample.say("cheaper, and no polyester")
    assert all(price < before for price in sample.prices())
    assert not any(says(sample.hits, "polyester"))
    assert not any("wool" in text_of(hit) for hit in sample.hits)

    await sample.say("now show me tents under $400")
    assert {hit["category"] for hit in sample.hits} == {"Tents"}
    assert max(sample.prices()) < 400

    cheapest = min(sample.hits, key=lambda hit: float(hit["price"]))
    await sample.say("the cheapest one")
    assert sample.ids() == [cheapest["_id"]]


async def test_twenty_turns_on_a_catalog_without_colour_brand_or_material(retail: Player) -> None:
    """What no field says is held by the texts; the promises are the same."""
    await retail.say("show me jackets")
    assert {hit["style"] for hit in retail.hits} == {"jacket"}

    before = min(retail.prices())
    await retail.say("something cheaper")
    assert retail.hits
    assert max(retail.prices()) < before

    await retail.say("in blue")
    assert retail.hits
    assert all(says(retail.hits, "blue"))
    assert max(retail.prices()) < before

    ids = retail.ids()
    await retail.say("I like the last one")
    assert retail.ids() == [ids[-1]]

    await retail.say("start again: backpacks")
    assert {hit["style"] for hit in retail.hits} == {"backpack"}

    await retail.say("nothing over 80")
    assert retail.hits
    assert max(retail.prices()) <= 80

    await retail.say("no leather")
    assert retail.hits
    assert not any(says(retail.hits, "leather"))

    seen = set(retail.ids())
    await retail.say("what else do you have?")
    assert retail.hits
    assert not seen & set(retail.ids())
    assert not any(says(retail.hits, "leather"))

    await retail.say("over 40, and not black")
    assert retail.hits
    assert all(40 < price <= 80 for price in retail.prices())
    assert not any(says(retail.hits, "black"))

    await retail.say("forget the price, in red or green")
    assert retail.hits
    assert all(
        red or green for red, green in zip(says(retail.hits, "red"), says(retail.hits, "green"), strict=True)
    )

    chosen = retail.hits[0]
    await retail.say("something similar to the first one")
    assert retail.hits
    assert chosen["_id"] not in retail.ids()
    assert {hit["style"] for hit in retail.hits} == {"backpack"}

    await retail.say("how about sofas instead")
    assert {hit["category"] for hit in retail.hits} == {"furniture"}
    assert not any(says(retail.hits, "leather"))

    await retail.say("anything less than $1000?")
    assert retail.hits
    assert max(retail.prices()) < 1000

    dearest = max(retail.prices())
    await retail.say("I only have 400")
    assert max(retail.prices()) <= 400 <= dearest

    await retail.say("in stock only")
    assert all(hit["current_stock"] > 0 for hit in retail.hits)

    decision = await retail.say("thanks")
    assert decision.kind == "answer"

    await retail.say("I need a table")
    assert {hit["style"] for hit in retail.hits} == {"tables"}

    dearest = max(retail.prices())
    await retail.say("higher end")
    assert retail.hits
    assert min(retail.prices()) > dearest

    ids = retail.ids()
    await retail.say("number 2")
    assert retail.ids() == [ids[1]]

    price = retail.prices()[0]
    await retail.say("a bit cheaper than that one")
    assert retail.hits
    assert max(retail.prices()) < price

    decision = await retail.say("the fifteenth")
    assert decision.kind in {"clarify", "search"}


async def test_a_colour_of_the_first_sentence_is_replaced_by_a_later_one(retail: Player) -> None:
    """On a catalog without a colour field too."""
    await retail.say("red jackets")
    assert retail.hits
    assert all(says(retail.hits, "red"))
    decision = await retail.say("in blue instead")
    assert retail.hits
    assert all(says(retail.hits, "blue"))
    assert decision.state.query == "jackets"


@pytest.mark.parametrize(
    "phrase",
    [
        "cheaper",
        "Cheaper!",
        "something cheaper please",
        "can you show me cheaper ones?",
        "too expensive",
        "that's too much for me",
        "they're too pricey",
        "less expensive",
        "a bit less expensive",
        "not so expensive",
        "I can't afford that",
        "out of my budget",
        "anything more affordable?",
        "do you have cheap ones",
        "lower price please",
        "for less money",
        "I don't want to spend that much",
        "much cheaper than these",
    ],
)
async def test_every_way_to_say_cheaper_is_strictly_below_what_was_shown(sample: Player, phrase: str) -> None:
    """The dearest of the new hits costs less than the cheapest of the old ones."""
    await sample.say("rain jackets")
    before = min(sample.prices())
    await sample.say(phrase)
    assert sample.hits
    assert max(sample.prices()) < before
    assert {hit["category"] for hit in sample.hits} == {"Rain Jackets"}


@pytest.mark.parametrize(
    "phrase",
    [
        "not wool, cheaper and in blue",
        "cheaper and in blue, not wool",
        "in blue, no wool, something cheaper",
        "blue ones without wool that cost less",
        "less expensive, wool-free and blue",
        "do you have cheaper blue ones? nothing made of wool please",
    ],
)
async def test_parts_of_a_sentence_may_come_in_any_order(sample: Player, phrase: str) -> None:
    """The same three demands, six ways."""
    await sample.say("base layers")
    before = min(sample.prices())
    decision = await sample.say(phrase)
    state = decision.state
    assert state.price_max == pytest.approx(before - 0.01)
    assert {
        (each.role, each.wanted, each.words) for each in state.constraints if each.role != "category"
    } == {
        ("colour", True, "blue"),
        ("material", False, "wool"),
    }
