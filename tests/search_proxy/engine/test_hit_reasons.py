"""Hits of the real engine that say why they are hits, and how many were too far to be one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.engine.fusion import Fusion
from search_proxy.filters import merge_filters, parse_filter
from search_proxy.models import Hit, SearchRequest
from tests.search_proxy.engine.word_embedder import WordEmbedder

pytestmark = pytest.mark.anyio

_PRODUCTS: list[dict[str, Any]] = [
    {
        "_id": "dome",
        "productTitle": "Dome tent",
        "description": "<p>Stands alone.</p> <p>Sleeps two in camping tents of this size!</p>",
        "color": "red",
        "price": 90.0,
    },
    {"_id": "tarp", "productTitle": "Storm shelter", "color": "red", "price": 40.0},
    {"_id": "stove", "productTitle": "Gas stove", "color": "red", "price": 30.0},
    {"_id": "mug", "productTitle": "Enamel mug", "color": "blue", "price": 9.0},
]


@pytest.fixture
async def hybrid(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """Return an engine with vectors of every product."""
    async with open_embedded(tmp_path, WordEmbedder(), Fusion(depth=3)) as opened:
        await opened.add_documents("acme", "shop", _PRODUCTS)
        await opened.embed_missing("acme", "shop")
        yield opened


def _said(hit: Hit) -> dict[str, Any]:
    return {name: hit[name] for name in ("_matched", "_excerpt", "_reason") if name in hit}


async def test_a_hit_says_what_matched_and_a_similar_one_that_it_is_similar(hybrid: EmbeddedBackend) -> None:
    """Words where words matched, meaning where no word did, and no excerpt without a passage."""
    request = SearchRequest(index="shop", q="tents", reasons=True, attributes_to_retrieve=("price",))
    dome, tarp = (await hybrid.search("acme", request)).hits
    assert _said(dome) == {
        "_matched": [
            {"field": "productTitle", "words": ("tent",)},
            {"field": "description", "words": ("tents",)},
        ],
        "_reason": "“tent” in title",
        "_excerpt": "Sleeps two in camping tents of this size!",
    }
    assert set(dome) == {"_id", "_score", "price", "_matched", "_reason", "_excerpt"}
    assert _said(tarp) == {"_matched": [], "_reason": "similar in meaning"}


async def test_a_browsed_hit_says_which_demands_it_meets_and_has_no_score(hybrid: EmbeddedBackend) -> None:
    """No words were asked, so none matched: the filter is the reason, rights are not."""
    forced = parse_filter("price:[* TO 50]")
    asked = merge_filters(forced, parse_filter("color:(red)"))
    request = SearchRequest(index="shop", filter=asked, forced_filter=forced, reasons=True)
    hits = (await hybrid.search("acme", request)).hits
    assert [hit["_id"] for hit in hits] == ["tarp", "stove"]
    assert [_said(hit) for hit in hits] == [{"_matched": [], "_reason": "color: red"}] * 2
    assert {hit["_score"] for hit in hits} == {None}


async def test_hits_below_the_floor_are_cut_and_counted(hybrid: EmbeddedBackend) -> None:
    """Of the three nearest, one matches by word, one by meaning, and one is too far."""
    result = await hybrid.search("acme", SearchRequest(index="shop", q="tent", reasons=True))
    assert [hit["_id"] for hit in result.hits] == ["dome", "tarp"]
    assert result.below_floor == 1
    alone = SearchRequest(index="shop", q="tent", reasons=True, lane="vector", min_similarity=0.9)
    assert (await hybrid.search("acme", alone)).below_floor == 1


async def test_nothing_is_said_or_counted_unless_it_was_asked(hybrid: EmbeddedBackend) -> None:
    """It costs a millisecond, which not every search has to pay."""
    result = await hybrid.search("acme", SearchRequest(index="shop", q="tent"))
    assert all(not _said(hit) for hit in result.hits)
    assert result.below_floor is None
    browsed = await hybrid.search("acme", SearchRequest(index="shop", reasons=True))
    assert browsed.below_floor is None
