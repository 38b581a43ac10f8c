"""Measures the fusions against each other on four judged sets: `make bench-fusion`.

The judged queries of the electronics catalog, on whole products and on their titles alone; and two sets
without shoppers, where a kind of product is the query and the products of that kind are what is wanted, its
name taken out of the catalog. The figures are NDCG@10 and the paired difference to the default. The last
lines choose a fusion by one random half of the shoppers' queries and say what that brings on the other.
Needs the embedding model; embedding takes most of the time.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from bench.embedding import ready_model
from bench.engine_catalogs import SHARED_DATA, icecat_products
from bench.hybrid_relevance import FUSIONS, ranked
from bench.relevance import Judged, Scores, measure, paired_difference, read_judgments
from search_proxy.embedding.minilm import open_minilm
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.embedding_run import embed_missing
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.feeds.reader import read_feed
from search_proxy.feeds.records import Refusal

MIN_PRODUCTS_OF_A_KIND = 5
HALVES = 1_000

_FIGURES: Mapping[str, Callable[[Scores], Sequence[float]]] = {
    "N": lambda scores: scores.ndcg,
    "Nc": lambda scores: scores.condensed,
}

_Products = Sequence[Mapping[str, Any]]


def main() -> None:
    """Print one table, or a line that says why there is none."""
    electronics = icecat_products()
    if not electronics:
        sys.exit("the judged catalogs are not beside this checkout")
    columns: dict[str, dict[str, Scores]] = {}
    with tempfile.TemporaryDirectory() as folder, open_minilm(ready_model()) as embedder:
        for number, (name, products, judged) in enumerate(_judged_sets(electronics)):
            index = Path(folder) / "bench" / f"set{number}"
            columns[f"{name} ({len(judged)})"] = _measured(index, products, judged, embedder)
    default = next(iter(FUSIONS))
    for name, measured in columns.items():
        sys.stdout.write(f"{name}\n")
        for fusion, scores in measured.items():
            low, middle, high = paired_difference(measured[default].ndcg, scores.ndcg)
            against = f"{middle:+.3f} [{low:+.3f}, {high:+.3f}]"
            sys.stdout.write(f"  {fusion:26}{mean(scores.ndcg):.3f}  {against}\n")
    _print_halves(next(iter(columns.values())), default)


def _judged_sets(electronics: _Products) -> Iterator[tuple[str, _Products, Sequence[Judged]]]:
    """Yield name, products and judged queries of every set; the shoppers' own comes first."""
    judged = read_judgments(SHARED_DATA / "icecat")
    yield "electronics, shoppers' queries", electronics, judged
    titles = [{"_id": one["_id"], "productTitle": one["productTitle"]} for one in electronics]
    yield "electronics, titles alone", titles, judged
    yield "electronics, kinds of products", *_kinds(electronics, "category", {"productCollections", "type"})
    feed = read_feed(SHARED_DATA / "retail_demo" / "products.jsonl.gz")
    store = [dict(item.document) for item in feed if not isinstance(item, Refusal)]
    yield "demo store, kinds of products", *_kinds(store, "style", {"category"})


def _kinds(products: _Products, field: str, also_hidden: set[str]) -> tuple[_Products, Sequence[Judged]]:
    """Return the products that have a kind, without it, and a query for every kind."""
    of_kind: dict[str, dict[str, float]] = defaultdict(dict)
    shown = []
    for product in products:
        if isinstance(kind := product.get(field), str):
            of_kind[kind][product["_id"]] = 1.0
            shown.append({name: product[name] for name in product if name not in {field, *also_hidden}})
    return shown, [
        Judged(query=kind.replace("_", " "), gains=gains)
        for kind, gains in of_kind.items()
        if len(gains) >= MIN_PRODUCTS_OF_A_KIND
    ]


def _measured(
    index: Path, products: _Products, judged: Sequence[Judged], embedder: Embedder
) -> dict[str, Scores]:
    add_documents(index, products)
    embed_missing(index, embedder, lambda done, of: None)
    _, snapshot = open_snapshot(index)
    lanes = {name: None if one is None else VectorLane(embedder, one) for name, one in FUSIONS.items()}
    return {
        name: measure(judged, lambda query, lane=lane: ranked(snapshot, lane, query), str)  # type: ignore[misc]
        for name, lane in lanes.items()
    }


def _print_halves(measured: Mapping[str, Scores], default: str) -> None:
    chance = random.Random(2)
    queries = range(len(measured[default].ndcg))
    for figure, of in _FIGURES.items():
        chosen: dict[str, int] = defaultdict(int)
        gained = []
        for _ in range(HALVES):
            half = set(chance.sample(queries, len(queries) // 2))
            by = {name: mean(of(scores)[at] for at in half) for name, scores in measured.items()}
            best = max(by, key=by.__getitem__)
            chosen[best] += 1
            other = [of(measured[best])[at] - of(measured[default])[at] for at in queries if at not in half]
            gained.append(mean(other))
        often = ", ".join(f"{name} {100 * count // HALVES} %" for name, count in chosen.items())
        sys.stdout.write(f"chosen by {figure} on one half: {often}; on the other half {mean(gained):+.3f}\n")


if __name__ == "__main__":
    main()
