"""In an index too large to compare everything, what is near is found, also under a filter."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.columns import Array
from search_proxy.engine.fusion import Fusion
from search_proxy.engine.quantised import query_codes
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.vector_clusters import EXACT_UP_TO, group_vectors, read_clusters
from search_proxy.engine.vector_lane import VectorLane
from search_proxy.engine.vectors import VectorFile, appending
from search_proxy.models import SearchRequest
from tests.search_proxy.engine.word_embedder import WordEmbedder

_ROWS = 3_000


class _Places(WordEmbedder):
    """An embedder whose texts are places in a space of sixteen dimensions."""

    def __init__(self) -> None:
        super().__init__("places")
        self.dimension = 16


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array]:
    """Return an index of products around thirty places, grouped; every third shares its vector."""
    folder = tmp_path_factory.mktemp("data") / "index"
    documents: list[dict[str, Any]] = [
        {"_id": str(n), "productTitle": f"lamp {n - n % 3}", "color": "red" if n % 50 == 0 else "blue"}
        for n in range(_ROWS)
    ]
    add_documents(folder, documents)
    _, snapshot = open_snapshot(folder)
    chance = np.random.default_rng(4)
    centres = chance.standard_normal((30, 16))
    hashes, first = np.unique(snapshot.text_hashes, return_index=True)
    rows = centres[first % 30] + 0.3 * chance.standard_normal((len(first), 16))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    with appending(folder, _Places(), again=False) as vectors:
        vectors.append(hashes[:900], rows[:900])
        opened = VectorFile(folder, _Places())
        assert opened.created is not None
        assert group_vectors(folder / "vectors", opened.matrix, opened.created, None, exact_up_to=100)
        vectors.append(hashes[900:], rows[900:])
    order = np.searchsorted(hashes, snapshot.text_hashes)
    return folder, rows[order]


def test_the_nearest_are_found_in_the_nearest_groups(grouped: tuple[Path, Array]) -> None:
    """Nearly all of them after a third of the vectors, all of them after all; appended ones always."""
    folder, _ = grouped
    opened = VectorFile(folder, _Places())
    clusters = opened.clusters
    assert clusters is not None
    assert (clusters.length, opened.length) == (900, 1_000)
    query = opened.matrix[5]
    truly = set(np.argsort(-(opened.matrix @ query))[:20].tolist())
    codes = query_codes(query)
    assert codes is not None
    positions, bounds = clusters.upper_bounds(opened.codes, query, codes, 300)
    assert len(positions) < 600
    similar = opened.similarities(query, positions)
    assert (similar <= bounds).all()
    assert np.allclose(similar, bounds, atol=0.06)
    found = positions[np.argsort(-similar)[:20]]
    assert len(truly & set(found.tolist())) >= 18
    assert set(range(900, 1_000)) <= set(positions.tolist())
    everything, _ = clusters.upper_bounds(opened.codes, query, codes, opened.length)
    assert sorted(everything.tolist()) == list(range(1_000))


@pytest.mark.parametrize("color", [None, "blue"])
def test_rows_that_share_a_vector_all_come_and_only_those_that_pass(
    grouped: tuple[Path, Array], color: str | None
) -> None:
    """The lane says of them what comparing everything says."""
    folder, expected = grouped
    _, snapshot = open_snapshot(folder)
    lane = VectorLane(_Places(), Fusion(depth=30, min_similarity=-1.0))
    query = expected[7]
    mask = _mask(snapshot, color)
    nothing = np.empty(0, np.int64)
    rows, similarities = lane.near(snapshot, query, mask, nothing, nothing)
    assert mask[rows].all()
    assert np.allclose(similarities, expected[rows] @ query, atol=1e-5)
    passing = np.flatnonzero(mask)
    truly = passing[np.argsort(-(expected[passing] @ query), kind="stable")[:30]]
    assert set(truly.tolist()) <= set(rows.tolist())


def test_the_texts_best_are_compared_too(grouped: tuple[Path, Array]) -> None:
    """However far they are: a fusion needs the true similarity of every candidate."""
    folder, expected = grouped
    _, snapshot = open_snapshot(folder)
    lane = VectorLane(_Places(), Fusion(depth=2, min_similarity=-1.0))
    farthest = int(np.argmin(expected @ expected[7]))
    text_rows = np.array([farthest])
    rows, similarities = lane.near(snapshot, expected[7], snapshot.live, text_rows, np.ones(1))
    assert similarities[rows.tolist().index(farthest)] == pytest.approx(
        float(expected[farthest] @ expected[7]), abs=1e-5
    )


def test_a_filter_that_keeps_little_is_compared_row_by_row(grouped: tuple[Path, Array]) -> None:
    """Every row that passes, exactly."""
    folder, expected = grouped
    _, snapshot = open_snapshot(folder)
    lane = VectorLane(_Places(), Fusion(depth=5, min_similarity=-1.0))
    mask = _mask(snapshot, "red")
    nothing = np.empty(0, np.int64)
    rows, _ = lane.near(snapshot, expected[7], mask, nothing, nothing)
    assert rows.tolist() == np.flatnonzero(mask).tolist()


def test_a_generation_that_nobody_holds_is_freed_at_once(grouped: tuple[Path, Array]) -> None:
    """Its text, vectors and maps hang in no cycle, which a large process would collect late or never."""
    folder, expected = grouped
    _, snapshot = open_snapshot(folder)
    lane = VectorLane(_Places(), Fusion(depth=5, min_similarity=-1.0))
    lane.near(snapshot, expected[7], snapshot.live, np.empty(0, np.int64), np.empty(0, np.int64))
    search_snapshot(snapshot, SearchRequest(index="index", q="lamp 30"), None)
    opened = VectorFile(folder, _Places())
    held = [weakref.ref(one) for one in (snapshot.text, snapshot.text.vocabulary, opened)]
    gc.disable()
    try:
        del snapshot, opened
        assert [one() for one in held] == [None, None, None]
    finally:
        gc.enable()


def test_groups_are_made_when_they_are_due(tmp_path: Path) -> None:
    """Not for few vectors, not again for a few more, and never taken for those of other vectors."""
    chance = np.random.default_rng(2)
    matrix = chance.standard_normal((400, 8)).astype(np.float32)
    assert not group_vectors(tmp_path, matrix, "one", None)
    assert group_vectors(tmp_path, matrix, "one", None, exact_up_to=300)
    clusters = read_clusters(tmp_path, "one", 400)
    assert clusters is not None
    assert read_clusters(tmp_path, "two", 400) is None
    assert read_clusters(tmp_path, "one", 399) is None
    more = np.concatenate([matrix, matrix[:30]])
    assert not group_vectors(tmp_path, more, "one", clusters, exact_up_to=300)
    again = np.concatenate([matrix, matrix[:50]])
    assert group_vectors(tmp_path, again, "one", clusters, exact_up_to=300)
    fresh = read_clusters(tmp_path, "one", 450)
    assert fresh is not None
    assert fresh.length == 450


def test_groups_without_codes_are_none_and_only_the_last_codes_stay(tmp_path: Path) -> None:
    """Those of an earlier version have none; a search then compares everything, until the next run groups."""
    matrix = np.random.default_rng(2).standard_normal((400, 8)).astype(np.float32)
    for _ in range(2):
        assert group_vectors(tmp_path, matrix, "one", None, exact_up_to=300)
        (codes,) = tmp_path.glob("*.i8")
    assert read_clusters(tmp_path, "one", 400) is not None
    codes.unlink()
    assert read_clusters(tmp_path, "one", 400) is None
    with np.load(tmp_path / "clusters.npz") as stored:
        earlier = {name: stored[name] for name in stored if name != "facts"}
    np.savez(tmp_path / "clusters.npz", **earlier)
    assert read_clusters(tmp_path, "one", 400) is None


def test_a_reader_learns_of_groups_that_were_made_since(tmp_path: Path) -> None:
    """They come after the last vector, so their number alone does not tell."""
    folder = tmp_path / "index"
    folder.mkdir()
    count = EXACT_UP_TO + 1
    rows = np.random.default_rng(2).standard_normal((count, 4)).astype(np.float32)
    with appending(folder, WordEmbedder(), again=False) as vectors:
        vectors.append(np.arange(count, dtype="<u8"), rows)
    before = VectorFile(folder, WordEmbedder())
    assert (before.clusters, before.is_current()) == (None, True)
    before.group()
    assert not before.is_current()
    after = VectorFile(folder, WordEmbedder(), before)
    assert after.clusters is not None
    assert after.is_current()


def _mask(snapshot: Snapshot, color: str | None) -> Array:
    if color is None:
        return snapshot.live
    postings = snapshot.postings("color")
    assert postings is not None
    mask = np.zeros(snapshot.size, bool)
    mask[list(postings.equal(color))] = True
    return mask
