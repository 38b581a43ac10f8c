"""Measures what enrichment does to relevance: `make bench-enrichment`.

The judged queries are asked of the plain catalog, and of the one enriched from its own terms and by a
scripted model, at several weights of the enriched field. `other words` are queries in usual names that the
catalog does not use (laptop for notebook): the share of the first ten that are of that kind. The scripted
model knows these names, so its column says what a model that knows them brings, not how good a model is.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, cast

import numpy as np
import orjson

from bench.columns import print_columns
from bench.engine_catalogs import SHARED_DATA, icecat_products
from bench.relevance import Judged, Scores, measure, paired_difference, read_judgments
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.ordering import by_score
from search_proxy.engine.query_reading import read_query
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.text_query import score_reading
from search_proxy.enrichment.catalog_terms import KIND_FIELDS, CatalogTerms
from search_proxy.enrichment.journal import Journal
from search_proxy.enrichment.run import (
    EnrichmentReport,
    plan_enrichment,
    write_enrichments,
    write_from_catalog,
)
from search_proxy.models import Document

WEIGHTS = (0.1, 0.2, 0.4, 0.8)
OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "notebook": ("laptop",),
    "notebook case": ("laptop bag", "laptop sleeve"),
    "tv": ("television",),
    "usb flash drive": ("thumb drive", "pen drive"),
    "uninterruptible power supply": ("battery backup",),
    "processor": ("cpu",),
    "memory module": ("ram",),
    "graphics card": ("gpu",),
    "networking cable": ("ethernet cable", "lan cable"),
    "power adapter/inverter": ("charger",),
    "surge protector": ("power strip",),
    "projector lamp": ("projector bulb",),
    "motherboard": ("mainboard",),
    "power supply unit": ("psu",),
    "computer case": ("pc tower",),
    "backpack": ("rucksack",),
    "headphones": ("earphones",),
    "mobile phone case": ("phone cover",),
}


def main() -> None:
    """Print the table."""
    products = icecat_products()
    if not products:
        sys.exit("the judged catalog is not beside this checkout")
    asyncio.run(_measure(products))


async def _measure(products: Sequence[dict[str, Any]]) -> None:
    judged = read_judgments(SHARED_DATA / "icecat")
    kinds = {one["_id"]: one["category"] for one in products if isinstance(one.get("category"), str)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = _Measured(folder / "plain", products, judged, kinds)
        baseline, others = plain.figures(BOOSTS["enriched"])
        rows = [_row("not enriched", "", len(products), 0, baseline, None, others)]
        right = _kinds_right(products)
        for way in ("catalog", "scripted model"):
            entries = await _written(way, products, folder / f"{way}.jsonl")
            enriched = [{**one, **entries.get(one["_id"], {})} for one in products]
            catalog = _Measured(folder / way, enriched, judged, kinds)
            for weight in WEIGHTS:
                scores, others = catalog.figures(weight)
                rows.append(_row(way, f"{weight:g}", len(products), len(entries), scores, baseline, others))
    named = f"ICE dev, {len(judged)} queries; kinds guessed {right}"
    head = (named, "weight", "enriched", "N", "Nc", "R100", "N - first line [95 %]", "other words")
    print_columns(head, rows)


def _row(
    way: str, weight: str, size: int, enriched: int, scores: Scores, baseline: Scores | None, others: float
) -> tuple[str, ...]:
    figures = [f"{mean(each):.3f}" for each in (scores.ndcg, scores.condensed, scores.recall)]
    difference = ""
    if baseline is not None:
        low, middle, high = paired_difference(baseline.ndcg, scores.ndcg)
        difference = f"{middle:+.4f} [{low:+.4f}, {high:+.4f}]"
    return (way, weight, f"{enriched / size:.0%}", *figures, difference, f"{others:.2f}")


class _Measured:
    """One catalog, asked at any weight of its enriched field."""

    def __init__(
        self,
        folder: Path,
        products: Sequence[dict[str, Any]],
        judged: Sequence[Judged],
        kinds: Mapping[str, str],
    ) -> None:
        self._index = folder / "index"
        self._judged = judged
        self._kinds = kinds
        add_documents(self._index, list(products))

    def figures(self, weight: float) -> tuple[Scores, float]:
        """Return the scores over the judged queries, and the share that other words find."""
        # A weight counts while a term is scored, so another one needs no other index.
        cast(dict[str, float], BOOSTS)["enriched"] = weight
        _, snapshot = open_snapshot(self._index)
        found = [
            mean(self._kinds.get(one) == kind for one in (_ranked(snapshot, query)[:10] or [""]))
            for kind, names in OTHER_NAMES.items()
            for query in names
        ]
        return measure(self._judged, lambda query: _ranked(snapshot, query), str), mean(found)


def _ranked(snapshot: Snapshot, query: str) -> list[str]:
    reading = read_query(snapshot.text, query, snapshot.synonyms)
    if not reading.concepts:
        return []
    scores = score_reading(snapshot.text, reading)
    rows = np.flatnonzero(scores > 0)
    return [snapshot.ids[row] for row in rows[by_score(rows, scores[rows], 100)][:100]]


class _Pages:
    """The products as an engine gives them."""

    def __init__(self, products: Sequence[Document]) -> None:
        self._products = products

    async def document_page(
        self, account_id: str, index: str, after: int, limit: int
    ) -> tuple[Sequence[Document], int | None]:
        """Return the next documents."""
        end = after + limit
        return self._products[after:end], None if end >= len(self._products) else end


class _ScriptedModel:
    """Writes the other names of the first kind whose name stands in a text."""

    name = "scripted"

    async def write(self, instruction: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return the names as a model's JSON."""
        lowered = text.casefold()
        kinds = sorted((kind for kind in OTHER_NAMES if kind in lowered), key=len, reverse=True)
        names = list(OTHER_NAMES[kinds[0]]) if kinds else []
        first = lowered.partition("\n")[0].partition(": ")[2]
        return orjson.dumps({"keywords": names, "description": kinds[0] if kinds else first[:40]}).decode()


async def _written(way: str, products: Sequence[Document], path: Path) -> dict[str, dict[str, Any]]:
    """Return the enriched fields of every document that got any."""
    journal, report, source = Journal(path), EnrichmentReport(), _Pages(products)
    plan = await plan_enrichment(source, "bench", "icecat", journal)
    if way == "catalog":
        await write_from_catalog(source, "bench", "icecat", plan, journal, report)
    else:
        await write_enrichments(plan, _ScriptedModel(), journal, report)
    journal.close()
    return {
        entry.id: {"enrichedKeywords": list(entry.keywords), "enrichedDescription": entry.description}
        for entry in journal.entries.values()
    }


def _kinds_right(products: Sequence[Document]) -> str:
    """Return how often a kind that is held back is guessed, and how often that is right."""
    named = [one for one in products if isinstance(one.get("category"), str)]
    held = named[::11]
    names = {one["_id"] for one in held}
    terms = CatalogTerms()
    for one in products:
        if one["_id"] not in names:
            terms.learn(one)
    guesses = list(_guesses(terms, held))
    right = sum(guess == one["category"] for guess, one in zip(guesses, held, strict=True))
    made = sum(guess is not None for guess in guesses)
    return f"{made / len(held):.0%}, right {right / max(made, 1):.0%}"


def _guesses(terms: CatalogTerms, held: Sequence[Document]) -> Iterator[str | None]:
    for one in held:
        entry = terms.enrich({name: one[name] for name in one if name not in KIND_FIELDS}, "")
        yield entry.keywords[0] if entry else None


if __name__ == "__main__":
    main()
