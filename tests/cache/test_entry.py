"""An entry is what was stored for exactly this question, or a miss."""

from __future__ import annotations

import struct

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from cache.entry import MAX_ENTRY_BYTES, CacheEntry
from cache.errors import EntryDamaged, EntryTooLarge
from cache.keys import QueryKey

KEY = QueryKey.of("acme", "shoes", "red running shoes")
ENTRY = CacheEntry(
    key_text=KEY.text,
    payload=b'{"plan": 1}',
    created_at_ms=1_800_000_000_000,
    tags={"prompt": "v3", "model": "m"},
)


@given(
    st.binary(max_size=2000),
    st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=4),
    st.booleans(),
)
def test_an_entry_comes_back_as_it_was(payload: bytes, tags: dict[str, str], pinned: bool) -> None:
    """Payload, time, tags and the pin survive the bytes."""
    entry = CacheEntry(key_text=KEY.text, payload=payload, created_at_ms=7, tags=tags, pinned=pinned)
    assert CacheEntry.decode(entry.encode(), KEY) == entry


@given(st.integers(min_value=0, max_value=len(ENTRY.encode()) - 1), st.integers(min_value=1, max_value=255))
def test_an_entry_with_any_byte_changed_is_damaged(position: int, change: int) -> None:
    """The checksum covers header, tags and payload."""
    blob = bytearray(ENTRY.encode())
    blob[position] ^= change
    with pytest.raises(EntryDamaged):
        CacheEntry.decode(bytes(blob), KEY)


@given(st.integers(min_value=0, max_value=len(ENTRY.encode()) - 1))
def test_an_entry_that_is_cut_anywhere_is_damaged(length: int) -> None:
    """A half-written value is a miss."""
    with pytest.raises(EntryDamaged):
        CacheEntry.decode(ENTRY.encode()[:length], KEY)


@given(st.binary(max_size=200))
def test_foreign_bytes_are_damaged(blob: bytes) -> None:
    """Whatever else lies under the key never crashes."""
    with pytest.raises(EntryDamaged):
        CacheEntry.decode(blob, KEY)


def test_an_entry_of_another_question_is_damaged() -> None:
    """An answer that was copied under another key is not that key's answer."""
    other = QueryKey.of("rival", "shoes", "red running shoes")
    with pytest.raises(EntryDamaged, match="belongs to 'acme#shoes#red running shoes'"):
        CacheEntry.decode(ENTRY.encode(), other)


def test_an_entry_of_an_unknown_format_is_damaged() -> None:
    """A newer process's entry is a miss for an older one."""
    blob = bytearray(ENTRY.encode())
    blob[3] = 99
    with pytest.raises(EntryDamaged, match="this version reads"):
        CacheEntry.decode(bytes(blob), KEY)


def test_an_entry_over_the_limit_is_refused() -> None:
    """It would not fit into an item of the table."""
    with pytest.raises(EntryTooLarge):
        CacheEntry(key_text=KEY.text, payload=bytes(MAX_ENTRY_BYTES), created_at_ms=0).encode()


def test_the_tag_that_differs_is_named() -> None:
    """The log line says which setting outdated an answer."""
    assert ENTRY.tag_that_differs({"prompt": "v3"}) is None
    assert ENTRY.tag_that_differs({"prompt": "v3", "model": "n"}) == "model"
    assert ENTRY.tag_that_differs({"language": "de"}) == "language"


def test_a_pinned_entry_is_never_outdated() -> None:
    """It stays until removed."""
    pinned = CacheEntry(key_text=KEY.text, payload=b"", created_at_ms=0, pinned=True)
    assert pinned.tag_that_differs({"prompt": "v9"}) is None


@pytest.mark.parametrize("head", [b"{}", b"[1,{}]", b'["k",[]]', b'["k"]', b"nope", b"null", b""])
def test_a_head_of_another_shape_is_damage_though_the_checksum_holds(head: bytes) -> None:
    """A checksum is no signature: whoever can write can compute it."""
    blob = CacheEntry(key_text=KEY.text, payload=b"x", created_at_ms=5, tags={}).encode()
    fields = (b"AQE", 1, 0, 5, len(head), 1)
    digest = xxhash.xxh3_64(struct.pack("<3sBBQII", *fields))
    digest.update(head + b"x")
    forged = struct.pack("<3sBBQIIQ", *fields, digest.intdigest()) + head + b"x"
    assert CacheEntry.decode(blob, KEY).payload == b"x"
    with pytest.raises(EntryDamaged, match=r"key|tags"):
        CacheEntry.decode(forged, KEY)
