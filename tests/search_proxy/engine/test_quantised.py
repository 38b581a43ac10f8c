"""A bound made of bytes is never below the true similarity, and for usual vectors close to it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import simsimd
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.engine.columns import Array
from search_proxy.engine.quantised import quantised, query_codes

_CHANCE = np.random.default_rng(6)
_KINDS = ("directions", "one number", "equal numbers", "of any length", "tiny and huge", "zero", "sparse")


def _vectors(kind: str, count: int, dimension: int, chance: np.random.Generator) -> Array:
    rows = chance.standard_normal((count, dimension)).astype(np.float32)
    if kind == "one number":
        rows[:, 1:] = 0
    elif kind == "equal numbers":
        rows[:] = rows[:, :1]
    elif kind == "sparse":
        rows[chance.random(rows.shape) < 0.9] = 0
    elif kind == "zero":
        rows[::2] = 0
    if kind not in {"of any length", "tiny and huge"}:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1)
    if kind == "tiny and huge":
        rows *= np.float32(10.0) ** chance.integers(-44, 30, (count, 1)).astype(np.float32)
    return rows


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(_KINDS),
    asked=st.sampled_from(_KINDS),
    dimension=st.sampled_from([1, 2, 16, 33, 384, 768, 1536]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_similarity_is_above_its_bound(kind: str, asked: str, dimension: int, seed: int) -> None:
    """Neither the exact one nor what single precision makes of it. Source: decision 0017."""
    chance = np.random.default_rng(seed)
    rows = _vectors(kind, 20, dimension, chance)
    query = _vectors(asked, 2, dimension, chance)[1]
    codes = query_codes(query)
    if codes is None:
        assert not 1e-6 <= np.linalg.norm(query.astype(np.float64)) <= 1e6
        return
    bounds = quantised(rows).upper_bounds(codes)
    assert not np.isnan(bounds).any()
    assert (rows.astype(np.float64) @ query.astype(np.float64) <= bounds).all()
    assert (np.vecdot(rows, query) <= bounds).all()


@pytest.mark.parametrize(("dimension", "within"), [(384, 0.03), (768, 0.035), (1536, 0.04)])
def test_a_bound_is_close_to_the_similarity(dimension: int, within: float) -> None:
    """So that few vectors have to be compared; a vector of nothing is bound to nothing."""
    rows = _vectors("directions", 500, dimension, _CHANCE)
    rows[7] = 0
    query = _vectors("directions", 1, dimension, _CHANCE)[0]
    codes = query_codes(query)
    assert codes is not None
    bounds = quantised(rows).upper_bounds(codes)
    assert (bounds - rows @ query).max() < within
    assert bounds[7] == 0


def test_a_query_that_no_bound_holds_for_has_no_codes() -> None:
    """Nothing, next to nothing, more than anything, and what is no number."""
    direction = np.ones(8, np.float32)
    for query in (0 * direction, 1e-20 * direction, 1e30 * direction, np.nan * direction, np.inf * direction):
        assert query_codes(query.astype(np.float32)) is None


def test_parts_and_copies_say_what_the_whole_says() -> None:
    """A part, chosen rows, and a part of nothing."""
    codes = quantised(_vectors("directions", 50, 24, _CHANCE))
    query = query_codes(_vectors("directions", 1, 24, _CHANCE)[0])
    assert query is not None
    whole = codes.upper_bounds(query)
    chosen = np.array([31, 4, 4, 49])
    assert codes.part(10, 30).upper_bounds(query).tolist() == whole[10:30].tolist()
    assert codes.at(chosen).upper_bounds(query).tolist() == whole[chosen].tolist()
    assert len(codes.part(7, 7).upper_bounds(query)) == 0


_LATER = ("sapphire", "genoa", "ice", "skylake", "haswell")


@pytest.mark.parametrize("kept", range(len(_LATER) + 1))
@pytest.mark.parametrize("dimension", [1, 17, 64, 127, 384, 1536, 3072])
def test_every_processor_multiplies_bytes_exactly(kept: int, dimension: int) -> None:
    """Also one without the instructions of later ones, and at the ends of the range."""
    without = [one for one in _LATER[:kept] if simsimd.get_capabilities()[one]]
    rows = _CHANCE.choice(np.array([-127, 127, 126, 1, 0], np.int8), (60, dimension))
    query = rows[:1].copy()
    for one in without:
        simsimd.disable_capability(one)
    try:
        found = np.asarray(simsimd.cdist(query, rows, "dot", out_dtype="float32"))[0]
    finally:
        for one in without:
            simsimd.enable_capability(one)
    true = rows.astype(np.int64) @ query[0].astype(np.int64)
    assert np.abs(found - true).max() <= np.abs(true).max() * 2.0**-24


def test_comparing_takes_no_reference_to_none() -> None:
    """A process that has lost so many ends with a fatal error."""
    codes = quantised(_vectors("directions", 10, 16, _CHANCE))
    query = query_codes(_vectors("directions", 1, 16, _CHANCE)[0])
    assert query is not None
    before = sys.getrefcount(None)
    for _ in range(500):
        codes.upper_bounds(query)
    assert abs(sys.getrefcount(None) - before) < 250
