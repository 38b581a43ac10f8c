"""Calibrates `min_score` of semantic search on judged queries: `make bench-min-score`.

For every cutoff: the share of good products (gain 2/3 and more) that stay, the share of irrelevant ones that
go, and how many queries about things that the shop does not sell get nothing at all. The cutoff is chosen on
one half of the queries and judged on the other. Only judged products and 2,000 others are embedded.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.columns import print_columns
from bench.engine_catalogs import SHARED_DATA, icecat_products
from bench.relevance import GOOD_GAIN, Judged, read_judgments
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.embedding.opening import EmbeddingConfig, open_embedder
from search_proxy.filters import InFilter
from search_proxy.models import SearchRequest

MODELS = Path(__file__).resolve().parents[1] / ".aisle" / "models"
CUTOFFS = np.arange(0.30, 0.62, 0.02)
OTHERS = 2_000
NOT_SOLD = (
    *("wedding dress", "dog food", "mortgage rates", "chocolate cake recipe", "running shoes", "lawn mower"),
    *("shampoo", "best pizza in town", "how to write a poem", "garden chair", "fishing rod", "red wine"),
    *("holiday in spain", "blue jeans", "dentist appointment"),
)


@dataclass(frozen=True, slots=True)
class Similarities:
    """The similarities of one query's judged products."""

    good: Sequence[float]
    bad: Sequence[float]


def main() -> None:
    """Print the table."""
    asyncio.run(_measure())


async def _measure() -> None:
    products = icecat_products()
    with tempfile.TemporaryDirectory() as folder, open_embedder(EmbeddingConfig(models=MODELS)) as opened:
        if not products or opened.embedder is None:
            sys.exit("the judged catalog or the embedding model is not on this machine")
        judged = read_judgments(SHARED_DATA / "icecat")
        wanted = {identifier for one in judged for identifier in one.gains}
        chosen = [product for product in products if product["_id"] in wanted]
        chosen += [product for product in products if product["_id"] not in wanted][:OTHERS]
        async with open_embedded(Path(folder), opened.embedder) as engine:
            await engine.add_documents("bench", "icecat", chosen)
            await engine.embed_missing("bench", "icecat")
            found = [await _similarities(engine, one) for one in judged]
            strangers = [await _best(engine, query) for query in NOT_SOLD]
        headings = (opened.embedder.model, "good kept", "irrelevant dropped", "not sold, nothing found")
        print_columns(headings, _rows(found, strangers))


def _rows(found: Sequence[Similarities], strangers: Sequence[float]) -> list[tuple[str, str, str, str]]:
    rows = []
    for cutoff in CUTOFFS:
        silent = sum(score < cutoff for score in strangers)
        rows.append((f"{cutoff:.2f}", *_shares(found, cutoff), f"{silent} of {len(strangers)}"))
    best = max(CUTOFFS, key=lambda cutoff: _youden(found[0::2], cutoff))
    rows.append((f"chosen on one half: {best:.2f}, on the other", *_shares(found[1::2], best), ""))
    return rows


def _shares(found: Sequence[Similarities], cutoff: float) -> tuple[str, str]:
    good, bad = _kept(found, cutoff)
    return f"{good:.2f}", f"{1 - bad:.2f}"


async def _similarities(engine: EmbeddedBackend, one: Judged) -> Similarities:
    request = SearchRequest(
        index="icecat",
        q=one.query,
        limit=1_000,
        lane="vector",
        filter=InFilter("_id", tuple(one.gains)),
        attributes_to_retrieve=("_id",),
    )
    hits = (await engine.search("bench", request)).hits
    good = [hit["_score"] for hit in hits if one.gains[hit["_id"]] >= GOOD_GAIN - 1e-6]
    return Similarities(good, [hit["_score"] for hit in hits if one.gains[hit["_id"]] == 0])


async def _best(engine: EmbeddedBackend, query: str) -> float:
    request = SearchRequest(index="icecat", q=query, limit=1, lane="vector", attributes_to_retrieve=("_id",))
    return float((await engine.search("bench", request)).hits[0]["_score"])


def _kept(found: Sequence[Similarities], cutoff: float) -> tuple[float, float]:
    good = [score >= cutoff for one in found for score in one.good]
    bad = [score >= cutoff for one in found for score in one.bad]
    return float(np.mean(good)), float(np.mean(bad))


def _youden(found: Sequence[Similarities], cutoff: float) -> float:
    good, bad = _kept(found, cutoff)
    return good - bad


if __name__ == "__main__":
    main()
