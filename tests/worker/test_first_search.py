"""The first search as the rules read the sentence, and answers that need none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.event_stream import Frame
from tests.support.shop import open_shop

pytestmark = pytest.mark.anyio


def _first_hits(events: list[Frame]) -> dict[str, Any]:
    return next(event.data for event in events if "hits" in event.data)


async def test_demands_of_the_sentence_bind_the_first_hits_and_are_shown(tmp_path: Path) -> None:
    """Price and colour are filters, said in `appliedFilter`. Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        first = _first_hits(await shop.stream("red tent under 20"))
    assert first["hits"]
    assert all(hit["price"] < 20 and hit["productTitle"].startswith("Red") for hit in first["hits"])
    assert "price:[" in first["appliedFilter"]
    assert "filterDropped" not in first


async def test_demands_that_leave_nothing_are_dropped_and_the_clients_filter_stays(tmp_path: Path) -> None:
    """Nobody sees an empty page because of our reading of a sentence."""
    async with open_shop(tmp_path) as shop:
        first = _first_hits(await shop.stream("red tent under 2", filter="brand:(Fellhorn)"))
    assert first["filterDropped"] is True
    assert first["appliedFilter"] == "brand:(Fellhorn)"
    assert first["hits"]
    assert all(int(hit["_id"].rpartition("-")[2]) % 2 for hit in first["hits"])


async def test_a_query_that_only_filters_is_not_scored(tmp_path: Path) -> None:
    """Nothing was ranked, so there is no score to show. Source: docs/strategies.md."""
    async with open_shop(tmp_path) as shop:
        events = await shop.stream("my in-stock boots under 60")
    first = _first_hits(events)
    assert first["hits"]
    assert {hit["_score"] for hit in first["hits"]} == {None}
    assert events[-2].data["receipt"]["strategy"] == "metadata_only"


@pytest.mark.parametrize(
    ("query", "strategy"),
    [
        ("hello", "no_match"),
        ("what can you do for me here", "no_match"),
        ("show me stuff", "needs_clarification"),
    ],
)
async def test_a_greeting_or_a_vague_wish_is_answered_in_words_without_a_search(
    tmp_path: Path, query: str, strategy: str
) -> None:
    """No hits, no "searching", no "0 results". Source: docs/wire-format.md."""
    async with open_shop(tmp_path) as shop:
        events = await shop.stream(query)
    assert events[0].data == {"categories": False, "summary": True}
    assert not [
        event for event in events if {"hits", "totalHits", "status", "categoryHits"} & set(event.data)
    ]
    assert next(event.data["summary"] for event in events[1:] if "summary" in event.data).strip()
    receipt = events[-2].data["receipt"]
    assert receipt["strategy"] == strategy
    assert "INITIAL_MARQO_SEARCH" not in receipt["timings"]
    if strategy == "needs_clarification":
        assert any(event.data.get("queryComplements") for event in events)


async def test_a_sort_that_the_client_gives_wins_over_the_sentence(tmp_path: Path) -> None:
    """What a storefront asks for outright is not overruled by a reading of words."""
    settings = '{"sortBy": {"fields": [{"fieldName": "price", "order": "desc"}]}}'
    async with open_shop(tmp_path) as shop:
        first = _first_hits(await shop.stream("boots under 65 cheapest first", searchSettings=settings))
    prices = [hit["price"] for hit in first["hits"]]
    assert prices == sorted(prices, reverse=True)
