"""A search over codes answers what comparing every vector answers: hits, totals, facets, ties and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.columns import Array
from search_proxy.engine.fusion import Fusion, FusionMethod
from search_proxy.engine.nearest_rows import FEW_ROWS, GATHER_SHARE, NearestRows
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.engine.vectors import VectorFile, appending
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest, SearchResult

_ROWS = 6_000
_DIMENSION = 24
_SHARES = (1.0, 0.6, 1.2 * GATHER_SHARE, 0.8 * GATHER_SHARE, 1.2 * FEW_ROWS / _ROWS, 0.02, 0.0)


@dataclass
class _Places:
    """An embedder whose texts are places; `query` is where every query is."""

    query: Array
    dimension: int = _DIMENSION
    model: str = "places"

    def embed(self, texts: Sequence[str]) -> Array:
        raise NotImplementedError

    def embed_query(self, query: str) -> Array:
        return self.query


class _ComparesAll(VectorLane):
    """A lane that compares every vector that passes with the query, and leaves out nothing."""

    def near(self, snapshot: Snapshot, vector: Array, mask: Array, *_: object) -> tuple[Array, Array]:
        return self.similarities(snapshot, vector, np.flatnonzero(mask))


@dataclass
class _Index:
    snapshot: Snapshot
    vectors: Array
    """Of each row; of one that has none, zero."""
    nearest: NearestRows


def _document(at: int) -> dict[str, Any]:
    """Return one of a thousand lamps; every tenth has the text, and so the vector, of the one before."""
    return {
        "_id": str(at),
        "productTitle": f"lamp {at - (at % 10 == 9)}",
        "color": "red" if at % 3 else "blue",
        "share": at * 7919 % _ROWS,
    }


@pytest.fixture(scope="module", params=["as loaded", "shuffled", "deleted, and some without"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Index:
    """Return an index of places around forty centres, some of them exactly there."""
    folder = tmp_path_factory.mktemp("data") / "shop"
    for start in range(0, _ROWS, 2_500):
        add_documents(folder, [_document(at) for at in range(start, min(start + 2_500, _ROWS))])
    if request.param.startswith("deleted"):
        delete_documents(folder, [str(at) for at in range(0, _ROWS, 7)])
    _, snapshot = open_snapshot(folder)
    chance = np.random.default_rng(3)
    hashes, first, row_of = np.unique(snapshot.text_hashes, return_index=True, return_inverse=True)
    centres = chance.standard_normal((40, _DIMENSION))
    places = centres[first % 40] + 0.4 * (first % 4)[:, None] * chance.standard_normal((len(first), 24))
    places = (places / np.linalg.norm(places, axis=1, keepdims=True)).astype(np.float32)
    places[::50] = 0
    order = np.argsort(first) if request.param == "as loaded" else chance.permutation(len(first))
    kept = order[: len(order) - (500 if request.param.startswith("deleted") else 0)]
    with appending(folder, _Places(places[0]), again=False) as file:
        for start in range(0, len(kept), 1_024):
            part = kept[start : start + 1_024]
            file.append(hashes[part], places[part])
    missing = np.setdiff1d(order, kept)
    places[missing] = 0
    vectors = VectorFile(folder, _Places(places[0]))
    return _Index(snapshot, places[row_of], NearestRows(vectors, vectors.positions(snapshot.text_hashes)))


def _queries(index: _Index) -> st.SearchStrategy[Array]:
    """Return a strategy of places: those of products, between them, opposite, nowhere, and absurd ones."""

    def made(row: int, other: int, share: float, factor: float) -> Array:
        mixed = (1 - share) * index.vectors[row] + share * index.vectors[other]
        query: Array = (factor * mixed).astype(np.float32)
        return query

    rows = st.integers(0, _ROWS - 1)
    factors = st.sampled_from([1.0, 1.0, 1.0, -1.0, 0.0, 1e-9, 1e9])
    return st.builds(made, rows, rows, st.floats(0, 1), factors)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_the_nearest_are_those_of_all(index: _Index, data: st.DataObject) -> None:
    """Under filters of every width, in their order, with all that equal the last. Source: decision 0017."""
    query = data.draw(_queries(index))
    share = data.draw(st.sampled_from(_SHARES))
    depth = data.draw(st.sampled_from([1, 10, 200, 1_500, 10_000]))
    at_least = data.draw(st.sampled_from([None, -1.0, 0.0, 0.35, 0.9, 2.0]))
    chance = np.random.default_rng(data.draw(st.integers(0, 99)))
    mask = index.snapshot.live & (chance.random(_ROWS) < share)
    nearest = index.nearest
    rows, similar = nearest.nearest(query, mask, depth, at_least)
    every, truly = nearest.similarities(query, np.flatnonzero(mask))
    assert mask[rows].all()
    assert (np.diff(rows) > 0).all()
    assert np.allclose(truly, index.vectors[every] @ query, atol=1e-5 * max(1, np.abs(query).max()))
    assert similar.tolist() == truly[np.searchsorted(every, rows)].tolist()
    floor = np.float32(-np.inf if at_least is None else at_least)
    found, wanted = (
        [(int(r[at]), float(s[at])) for at in best_positions(s, r, depth) if s[at] >= floor]
        for r, s in ((rows, similar), (every, truly))
    )
    assert found == wanted


def _facets(filter_text: str | None) -> FacetsRequest:
    """Return counts, one of which leaves out the filter's own choice."""
    lifted = ("color:red",) if filter_text == "color:red" else ()
    color = FacetField(name="color", exclude_terms=lifted)
    return FacetsRequest(fields=(color, FacetField(name="share", kind="number")))


_FILTERS = (None, "color:red", "share:[* TO 1500]", "share:[* TO 300] AND color:blue", "NOT color:green")


def _answer(result: SearchResult) -> tuple[Any, ...]:
    return result.hits, result.total_hits, result.facets, result.universe_size, result.below_floor


@pytest.mark.parametrize("method", ["weighted_rrf", "rrf", "convex", "convex by declaration"])
@pytest.mark.parametrize("floor", [-1.0, 0.35, 0.95])
def test_a_whole_search_answers_what_comparing_all_answers(index: _Index, method: str, floor: float) -> None:
    """Hits with their scores and reasons, totals, facets, and how many were cut; also by meaning alone."""
    snapshot = index.snapshot
    usual: FusionMethod = "rrf" if method == "rrf" else "convex" if method == "convex" else "weighted_rrf"
    if method == "convex by declaration":
        schema = replace(snapshot.manifest.schema, fusion="convex")
        snapshot = Snapshot(snapshot.folder, replace(snapshot.manifest, schema=schema))
    chance = np.random.default_rng(1)
    for row in chance.choice(_ROWS, 2, replace=False):
        query = index.vectors[row] + 0.1 * chance.standard_normal(_DIMENSION).astype(np.float32)
        fusion = Fusion(method=usual, min_similarity=floor)
        lane, all_of_it = VectorLane(_Places(query), fusion), _ComparesAll(_Places(query), fusion)
        for text in _FILTERS:
            wanted = None if text is None else parse_filter(text)
            for q, which in ((f"lamp {row}", "all"), ("nothing", "all"), ("lamp", "vector")):
                request = SearchRequest(
                    index="shop",
                    q=q,
                    filter=wanted,
                    facets=_facets(text),
                    limit=50,
                    reasons=True,
                    explain=True,
                    lane="vector" if which == "vector" else "all",
                    min_similarity=floor,
                )
                found = search_snapshot(snapshot, request, lane)
                assert _answer(found) == _answer(search_snapshot(snapshot, request, all_of_it))
