"""The codes beside the vectors: written behind them, made in memory where they are missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from search_proxy.engine.columns import Array
from search_proxy.engine.quantised import quantised, query_codes
from search_proxy.engine.vector_codes import BLOCK_ROWS
from search_proxy.engine.vectors import VECTORS, VectorFile, appending
from tests.search_proxy.engine.word_embedder import WordEmbedder

_CHANCE = np.random.default_rng(8)
_DIMENSION = WordEmbedder().dimension


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an index that has nothing yet."""
    made = tmp_path / "shop"
    made.mkdir()
    return made


def _append(folder: Path, count: int, start: int, *, again: bool = False) -> Array:
    rows = _CHANCE.standard_normal((count, _DIMENSION)).astype(np.float32)
    with appending(folder, WordEmbedder(), again=again) as file:
        file.append(np.arange(start, start + count, dtype="<u8"), rows)
    return rows


def _forget_codes(folder: Path) -> None:
    for path in (folder / VECTORS).glob("codes.*"):
        path.unlink()


def _cut_codes(folder: Path) -> None:
    """Leave the codes of 50 vectors and half of another's, as a writer that died would."""
    path = folder / VECTORS / "codes.i8"
    path.write_bytes(path.read_bytes()[: 50 * _DIMENSION + 2])


def _cut_facts(folder: Path) -> None:
    path = folder / VECTORS / "codes.f32"
    path.write_bytes(path.read_bytes()[:400])


def _agrees(opened: VectorFile, rows: Array) -> None:
    """Check that every way to ask says of all rows what is said of them without any file."""
    query = query_codes(_CHANCE.standard_normal(_DIMENSION).astype(np.float32))
    assert query is not None
    expected = quantised(rows).upper_bounds(query)
    positions = _CHANCE.permutation(len(rows))[: 3 * len(rows) // 4]
    assert opened.codes.upper_bounds(query).tolist() == expected.tolist()
    assert opened.codes.upper_bounds(query, 60).tolist() == expected[60:].tolist()
    assert opened.codes.upper_bounds_at(query, positions).tolist() == expected[positions].tolist()
    assert len(opened.codes.upper_bounds_at(query, positions[:0])) == 0


@pytest.mark.parametrize("harm", [_forget_codes, _cut_codes, _cut_facts])
def test_missing_codes_are_made_in_memory_and_written_by_the_next_run(
    folder: Path, harm: Callable[[Path], None]
) -> None:
    """An index of an earlier version has none; a writer that died left half a row."""
    rows = _append(folder, 200, 0)
    assert VectorFile(folder, WordEmbedder()).codes.stored == 200
    harm(folder)
    opened = VectorFile(folder, WordEmbedder())
    assert opened.codes.stored < 200
    _agrees(opened, rows)
    assert opened.is_current()
    with appending(folder, WordEmbedder(), again=False):
        pass
    assert not opened.is_current()
    opened = VectorFile(folder, WordEmbedder())
    assert (opened.codes.stored, opened.is_current()) == (200, True)
    _agrees(opened, rows)


def test_codes_are_right_over_many_appends_and_blocks(folder: Path) -> None:
    """Those in memory are taken over by who opens the same vectors next, but for a block that has grown."""
    rows = _append(folder, BLOCK_ROWS + 10, 0)
    _forget_codes(folder)
    first = VectorFile(folder, WordEmbedder())
    _agrees(first, rows)
    assert (len(first.codes.full_blocks(len(rows))), len(first.codes.full_blocks(2 * len(rows)))) == (2, 1)
    more = _CHANCE.standard_normal((90, _DIMENSION)).astype(np.float32)
    for name, added in (("matrix.f32", more), ("hashes.u64", np.arange(len(rows), len(rows) + 90))):
        with (folder / VECTORS / name).open("ab") as file:
            file.write(added.tobytes())
    rows = np.concatenate([rows, more])
    second = VectorFile(folder, WordEmbedder(), first)
    assert len(second.codes.full_blocks(len(rows))) == 1
    _agrees(second, rows)
    rows = np.concatenate([rows, _append(folder, 20, len(rows))])
    third = VectorFile(folder, WordEmbedder(), second)
    assert (third.codes.stored, third.codes.full_blocks(len(rows))) == (len(rows), {})
    _agrees(third, rows)


def test_vectors_that_are_made_anew_have_codes_of_their_own(folder: Path) -> None:
    """Nothing of those before is taken over."""
    before = _append(folder, 100, 0)
    _forget_codes(folder)
    first = VectorFile(folder, WordEmbedder())
    _agrees(first, before)
    rows = _append(folder, 100, 0, again=True)
    _forget_codes(folder)
    _agrees(VectorFile(folder, WordEmbedder(), first), rows)


def test_codes_of_vectors_that_do_not_count_are_overwritten(folder: Path) -> None:
    """A file that is longer than the vectors, as no writer leaves it, harms nobody."""
    rows = _append(folder, 70, 0)
    for name in ("codes.i8", "codes.f32"):
        with (folder / VECTORS / name).open("ab") as file:
            file.write(b"\x7f" * 400)
    _agrees(VectorFile(folder, WordEmbedder()), rows)
    rows = np.concatenate([rows, _append(folder, 50, 70)])
    _agrees(VectorFile(folder, WordEmbedder()), rows)
