"""Measures what the vector lane adds on real judged queries: `make bench-hybrid-relevance`.

The same figures as `bench.relevance`, through the whole search, for every fusion; differences are paired with
text alone, with a 95 % bootstrap interval. Needs the embedding model; embedding takes most of the time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from bench.embedding import ready_model
from bench.engine_catalogs import SHARED_DATA, icecat_products
from bench.relevance import Scores, measure, paired_difference, read_judgments
from search_proxy.embedding.minilm import open_minilm
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.embedding_run import embed_missing
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.models import SearchRequest

FUSIONS: Mapping[str, Fusion | None] = {
    "weighted RRF (default)": Fusion(),
    "exact convex": Fusion(method="convex"),
    "RRF": Fusion(method="rrf"),
    "text alone": None,
}


def main() -> None:
    """Print one table, or a line that says why there is none."""
    products = icecat_products()
    if not products:
        sys.exit("the judged catalog is not beside this checkout")
    judged = read_judgments(SHARED_DATA / "icecat")
    with tempfile.TemporaryDirectory() as folder, open_minilm(ready_model()) as embedder:
        index = Path(folder) / "bench" / "icecat"
        add_documents(index, products)
        embed_missing(index, embedder, lambda done, of: None)
        _, snapshot = open_snapshot(index)
        lanes = {name: None if one is None else VectorLane(embedder, one) for name, one in FUSIONS.items()}
        measured = {
            name: measure(judged, lambda query, lane=lane: ranked(snapshot, lane, query), str)  # type: ignore[misc]
            for name, lane in lanes.items()
        }
    _print(measured, len(judged))


def ranked(snapshot: Snapshot, lane: VectorLane | None, query: str) -> Sequence[str]:
    """Return the ids of the best 100 products."""
    request = SearchRequest(index="icecat", q=query, limit=100, collapse=False, attributes_to_retrieve=())
    return [hit["_id"] for hit in search_snapshot(snapshot, request, lane).hits]


def _print(measured: Mapping[str, Scores], queries: int) -> None:
    baseline = measured["text alone"]
    lines = [(f"ICE dev, {queries} queries", "N", "Nc", "R100", "N - text [95 %]", "Nc - text [95 %]")]
    for name, scores in measured.items():
        figures = [f"{mean(values):.3f}" for values in (scores.ndcg, scores.condensed, scores.recall)]
        against = ((baseline.ndcg, scores.ndcg), (baseline.condensed, scores.condensed))
        differences = [
            f"{middle:+.3f} [{low:+.3f}, {high:+.3f}]"
            for low, middle, high in (paired_difference(before, after) for before, after in against)
        ]
        lines.append((name, *figures, *differences))  # type: ignore[arg-type]
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        sys.stdout.write("  ".join([line[0].ljust(widths[0]), *cells[1:]]) + "\n")


if __name__ == "__main__":
    main()
