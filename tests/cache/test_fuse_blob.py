"""The C code answers only for bytes that were checked first."""

from __future__ import annotations

import random
import struct
import zlib
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import FilterDamaged
from cache.fuse_blob import FuseBlob, hash_texts
from cache.keys import fingerprint_of

SCOPE = "acme#shoes"


def _build(fingerprints: list[int], scope: str = SCOPE) -> FuseBlob:
    return FuseBlob.build(scope, array("Q", fingerprints), covered_until_ms=5, built_at_ms=7)


BLOB = _build([fingerprint_of(f"q{n}") for n in range(300)]).encode()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=2**64 - 1), max_size=400))
def test_every_key_that_was_built_in_is_found_after_a_round_trip(fingerprints: list[int]) -> None:
    """No false negatives, for none, one, few and equal keys."""
    read = FuseBlob.decode(_build([*fingerprints, *fingerprints[:3]]).encode(), SCOPE)
    assert all(fingerprint in read for fingerprint in fingerprints)
    assert (read.covered_until_ms, read.built_at_ms) == (5, 7)


def test_an_empty_filter_denies_everything() -> None:
    """An index that has no cached answer needs no table read at all."""
    empty = FuseBlob.decode(_build([]).encode(), SCOPE)
    assert not any(fingerprint_of(f"q{n}") in empty for n in range(1000))


def test_about_four_in_a_thousand_absent_keys_are_let_through() -> None:
    """Eight bits of fingerprint. Source: storage contract, §2: 0.39 %."""
    texts = [f"acme#shoes#query number {n}" for n in range(50_000)]
    fingerprints: array[int] = array("Q")
    hash_texts(texts, fingerprints)
    blob = FuseBlob.build(SCOPE, fingerprints, covered_until_ms=0, built_at_ms=0)
    wrong = sum(fingerprint_of(f"acme#shoes#absent {n}") in blob for n in range(50_000))
    assert 0.001 < wrong / 50_000 < 0.008
    assert blob.size_bytes / 50_000 < 1.3


@pytest.mark.parametrize("length", [0, 1, 10, 39, 40, 60, 100, len(BLOB) - 5, len(BLOB) - 1])
def test_a_cut_blob_is_refused(length: int) -> None:
    """Cut blobs make the C code deny keys that are there. Source: storage contract, §2."""
    with pytest.raises(FilterDamaged):
        FuseBlob.decode(BLOB[:length], SCOPE)


@given(st.integers(min_value=0, max_value=len(BLOB) - 1), st.integers(min_value=1, max_value=255))
def test_a_blob_with_any_byte_changed_is_refused(position: int, change: int) -> None:
    """Garbage makes the C code read outside its memory. Source: storage contract, §2."""
    blob = bytearray(BLOB)
    blob[position] ^= change
    with pytest.raises(FilterDamaged):
        FuseBlob.decode(bytes(blob), SCOPE)


@given(st.binary(max_size=300))
def test_foreign_bytes_are_refused(blob: bytes) -> None:
    """Whatever else lies in the file."""
    with pytest.raises(FilterDamaged):
        FuseBlob.decode(blob, SCOPE)


@pytest.mark.parametrize("field", range(1, 6))
def test_lengths_that_contradict_each_other_are_refused_though_the_checksum_holds(field: int) -> None:
    """A checksum says that the bytes are as written, not that whoever wrote them was right."""
    start = struct.calcsize("<4sHHIQQQ") + len(SCOPE)
    blob = bytearray(BLOB[:-4])
    offset = start + 8 + 4 * (field - 1)
    value = int.from_bytes(blob[offset : offset + 4], "little")
    blob[offset : offset + 4] = (value + 1 + random.Random(field).randrange(1000)).to_bytes(4, "little")
    with pytest.raises(FilterDamaged, match="contradict"):
        FuseBlob.decode(bytes(blob) + struct.pack("<I", zlib.crc32(blob)), SCOPE)


def test_the_filter_of_another_scope_is_refused() -> None:
    """A file that was renamed is not this scope's filter."""
    with pytest.raises(FilterDamaged, match="belongs to"):
        FuseBlob.decode(BLOB, "rival#shoes")
