"""Measures relevance on real judged queries: `make bench-relevance`.

`N` is NDCG@10 (linear gain, unjudged 0), `Nc` the same over judged documents only, `R100` the share of good
products among the first 100. The difference is paired with the plain reading of the query, with a 95 %
bootstrap interval: only one that leaves zero out says anything.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

from bench.engine_catalogs import SHARED_DATA, icecat_products
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.ordering import by_score
from search_proxy.engine.query_reading import (
    JOINED_WEIGHT,
    NUMBER_ALONE_WEIGHT,
    Alternative,
    Concept,
    QueryReading,
    read_query,
)
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.text_query import score_reading

GOOD_GAIN = 2 / 3
RESAMPLES = 10_000

Search = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A query and the gain of every document that somebody judged for it."""

    query: str
    gains: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The three figures of every query, in the order of the queries."""

    ndcg: Sequence[float]
    condensed: Sequence[float]
    recall: Sequence[float]


def main() -> None:
    """Print one table, or a line that says why there is none."""
    products = icecat_products()
    if not products:
        sys.exit("the judged catalog is not beside this checkout")
    judged = read_judgments(SHARED_DATA / "icecat")
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "bench" / "icecat"
        add_documents(index, products)
        _, snapshot = open_snapshot(index)
        ways: Mapping[str, tuple[Search, Callable[[str], str]]] = {
            "one literal term per word": (_literal(snapshot), str),
            "as the engine reads it": (_engine(snapshot), str),
            **{f"  {name} alone": (_where(snapshot, fires), str) for name, fires in _LANES.items()},
            "one typo, literal": (_literal(snapshot), mistyped),
            "one typo, as the engine reads it": (_engine(snapshot), mistyped),
        }
        measured = {name: measure(judged, search, change) for name, (search, change) in ways.items()}
    baseline = measured["one literal term per word"].ndcg
    lines = [(f"ICE dev, {len(baseline)} queries", "N", "Nc", "R100", "N - first line [95 %]")]
    for name, scores in measured.items():
        low, middle, high = paired_difference(baseline, scores.ndcg)
        ndcg, condensed, recall = map(mean, (scores.ndcg, scores.condensed, scores.recall))
        difference = f"{middle:+.3f} [{low:+.3f}, {high:+.3f}]"
        lines.append((name, f"{ndcg:.3f}", f"{condensed:.3f}", f"{recall:.3f}", difference))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        sys.stdout.write("  ".join([line[0].ljust(widths[0]), *cells[1:]]) + "\n")


def read_judgments(folder: Path) -> list[Judged]:
    """Return the queries that have anything relevant."""
    gains: dict[int, dict[str, float]] = defaultdict(dict)
    with gzip.open(folder / "dev_labels.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gains[int(row["query_id"])][row["product_id"]] = float(row["gain"])
    with (folder / "dev_queries.jsonl").open(encoding="utf-8") as file:
        queries = [json.loads(line) for line in file]
    return [
        Judged(query=query["query"], gains=gains[query["query_id"]])
        for query in queries
        if any(gains[query["query_id"]].values())
    ]


def measure(judged: Sequence[Judged], search: Search, change: Callable[[str], str]) -> Scores:
    """Return the figures of `search` over the queries, each changed by `change` first."""
    ndcg, condensed, recall = [], [], []
    for one in judged:
        found = list(search(change(one.query)))[:100]
        ndcg.append(_ndcg(found, one.gains))
        condensed.append(_ndcg([identifier for identifier in found if identifier in one.gains], one.gains))
        good = {identifier for identifier, gain in one.gains.items() if gain >= GOOD_GAIN - 1e-6}
        if good:
            recall.append(len(good & set(found)) / len(good))
    return Scores(ndcg=ndcg, condensed=condensed, recall=recall)


def mistyped(query: str) -> str:
    """Return the query with two neighbouring letters of its longest word swapped."""
    words = query.split()
    at = max(range(len(words)), key=lambda position: len(words[position]))
    word = words[at]
    if len(word) >= 4 and word.isalpha():
        middle = len(word) // 2
        words[at] = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    return " ".join(words)


def paired_difference(baseline: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference between its 2.5th and 97.5th bootstrap percentile."""
    differences = [b - a for a, b in zip(baseline, other, strict=True)]
    chance = random.Random(1)
    means = sorted(mean(chance.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], mean(differences), means[-RESAMPLES // 40]


def _ndcg(found: Sequence[str], gains: Mapping[str, float]) -> float:
    ideal = sum(
        gain / math.log2(rank + 2) for rank, gain in enumerate(sorted(gains.values(), reverse=True)[:10])
    )
    return sum(gains.get(one, 0.0) / math.log2(rank + 2) for rank, one in enumerate(found[:10])) / ideal


def _literal(snapshot: Snapshot) -> Search:
    def search(query: str) -> Sequence[str]:
        return _ranked(snapshot, _plain(snapshot, query))

    return search


def _plain(snapshot: Snapshot, query: str) -> QueryReading:
    terms = tuple(dict.fromkeys(snapshot.text.analysis.analyze(query)))
    return QueryReading(concepts=tuple(Concept((Alternative((term,)),)) for term in terms), literal=terms)


def _engine(snapshot: Snapshot) -> Search:
    def search(query: str) -> Sequence[str]:
        return _ranked(snapshot, read_query(snapshot.text, query, snapshot.synonyms))

    return search


def _where(snapshot: Snapshot, fires: Callable[[QueryReading, QueryReading], bool]) -> Search:
    """Return the search that reads a query literally but where one way to read it does something."""

    def search(query: str) -> Sequence[str]:
        reading = read_query(snapshot.text, query, snapshot.synonyms)
        plain = _plain(snapshot, query)
        return _ranked(snapshot, reading if fires(reading, plain) else plain)

    return search


def _has_weight(reading: QueryReading, at: int, weight: float) -> bool:
    return any(one.alternatives[at:] and one.alternatives[at].weight == weight for one in reading.concepts)


_LANES: Mapping[str, Callable[[QueryReading, QueryReading], bool]] = {
    "words that only join others": lambda reading, plain: len(reading.literal) < len(plain.literal),
    "sizes": lambda reading, plain: _has_weight(reading, 1, NUMBER_ALONE_WEIGHT),
    "joined words and model numbers": lambda reading, plain: _has_weight(reading, 0, JOINED_WEIGHT),
    "mistyped, unfinished and split words": lambda reading, plain: bool(reading.replaced),
}


def _ranked(snapshot: Snapshot, reading: QueryReading) -> Sequence[str]:
    if not reading.concepts:
        return []
    scores = score_reading(snapshot.text, reading)
    rows = np.flatnonzero(scores > 0)
    best = rows[by_score(rows, scores[rows], 100)][:100]
    return [snapshot.ids[row] for row in best]


if __name__ == "__main__":
    main()
