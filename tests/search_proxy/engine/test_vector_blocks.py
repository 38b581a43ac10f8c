"""Exact similarity over many blocks: the same as the plain product, also after appends and a rebuild."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.columns import Array
from search_proxy.engine.fusion import Fusion, Lanes, fuse
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.engine.vector_codes import BLOCK_ROWS
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.engine.vectors import VectorFile, appending
from tests.search_proxy.engine.word_embedder import WordEmbedder

_CHANCE = np.random.default_rng(5)


def _append(folder: Path, count: int, start: int, *, again: bool = False) -> Array:
    rows = _CHANCE.standard_normal((count, WordEmbedder().dimension)).astype(np.float32)
    hashes = np.arange(start, start + count, dtype="<u8")
    with appending(folder, WordEmbedder(), again=again) as file:
        file.append(hashes, rows)
    return rows


def _agrees(opened: VectorFile, rows: Array, query: Array) -> bool:
    positions = opened.positions(np.arange(len(rows), dtype="<u8"))
    assert (positions >= 0).all()
    found = opened.similarities(query, positions)
    return bool(np.allclose(found, rows @ query, atol=1e-5))


def test_every_row_is_compared_whatever_block_it_is_in(tmp_path: Path) -> None:
    """Appended rows fill the last block and begin others; vectors made anew replace all."""
    folder = tmp_path / "shop"
    folder.mkdir()
    query = _CHANCE.standard_normal(WordEmbedder().dimension).astype(np.float32)
    rows = _append(folder, BLOCK_ROWS + 10, 0)
    first = VectorFile(folder, WordEmbedder())
    assert _agrees(first, rows, query)
    rows = np.concatenate([rows, _append(folder, BLOCK_ROWS, len(rows))])
    second = VectorFile(folder, WordEmbedder(), first)
    assert _agrees(second, rows, query)
    anew = _append(folder, len(rows), 0, again=True)
    third = VectorFile(folder, WordEmbedder(), second)
    assert _agrees(third, anew, query)


@pytest.mark.parametrize("count", [1, 100, 2_500])
def test_few_rows_and_many_rows_are_compared_alike(tmp_path: Path, count: int) -> None:
    """To the last bit, whichever others are asked for: equal vectors are equally near, and rows decide."""
    folder = tmp_path / "shop"
    folder.mkdir()
    rows = _append(folder, 3_000, 0)
    opened = VectorFile(folder, WordEmbedder())
    positions = np.sort(_CHANCE.choice(3_000, count, replace=False))
    found = opened.similarities(rows[7], positions)
    assert np.allclose(found, rows[positions] @ rows[7], atol=1e-5)
    assert found.tolist() == opened.similarities(rows[7], np.arange(3_000))[positions].tolist()


@pytest.mark.parametrize("order", ["as loaded", "shuffled", "some missing"])
def test_every_row_gets_the_similarity_of_its_own_vector(tmp_path: Path, order: str) -> None:
    """In whatever order they were embedded, with and without a filter; a row without a vector is left out."""
    folder = tmp_path / "shop"
    documents = [{"_id": str(at), "productTitle": f"lamp {at}", "even": at % 2 == 0} for at in range(60)]
    add_documents(folder, documents)
    _, snapshot = open_snapshot(folder)
    rows = np.arange(60) if order == "as loaded" else _CHANCE.permutation(60)
    rows = rows[:40] if order == "some missing" else rows
    vectors = _CHANCE.standard_normal((60, WordEmbedder().dimension)).astype(np.float32)
    with appending(folder, WordEmbedder(), again=False) as file:
        file.append(snapshot.text_hashes[rows], vectors[rows])
    lane = VectorLane(WordEmbedder(), Fusion())
    nothing = np.empty(0, np.int64)
    for mask in (snapshot.live, np.arange(60) % 2 == 0):
        near, similarities = lane.near(snapshot, vectors[7], mask, nothing, nothing)
        assert near.tolist() == sorted(set(rows.tolist()) & set(np.flatnonzero(mask).tolist()))
        assert np.allclose(similarities, vectors[near] @ vectors[7], atol=1e-5)


@pytest.mark.parametrize("kind", ["even", "equal", "best in the sample", "best between"])
def test_the_best_of_many_are_the_best(kind: str) -> None:
    """However the best lie in what is sampled to find them."""
    scores = _CHANCE.random(10_000)
    if kind == "equal":
        scores[:] = 0.5
    elif kind != "even":
        scores[(0 if kind == "best in the sample" else 1) :: 16] += 1
    rows = np.arange(len(scores))
    nothing = np.empty(0)
    found, _ = fuse(Lanes(nothing.astype(int), nothing, rows, scores), Fusion(depth=200))
    assert found.tolist() == sorted(np.lexsort((rows, -scores))[:200].tolist())
