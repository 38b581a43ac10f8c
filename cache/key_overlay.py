"""The keys written since a filter was built, as roaring bitmaps of 32 bits of their fingerprints.

Two generations: a rebuild takes a while, and a key written meanwhile may be in neither the old filter nor
the new one. A swap ages the newer generation; the older one goes once the new filter covers all of it.
"""

from __future__ import annotations

from pyroaring import BitMap

_LOW_BITS = 0xFFFFFFFF


class KeyOverlay:
    """A set of fingerprints that is never missing one: two keys that share 32 bits are both in it."""

    def __init__(self) -> None:
        self._newer = BitMap()
        self._older = BitMap()
        self._newer_until_ms = 0
        self._older_until_ms = 0

    def __contains__(self, fingerprint: int) -> bool:
        low = fingerprint & _LOW_BITS
        return low in self._newer or low in self._older

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def add(self, fingerprint: int, written_at_ms: int) -> None:
        """Add a key."""
        self._newer.add(fingerprint & _LOW_BITS)
        self._newer_until_ms = max(self._newer_until_ms, written_at_ms)

    def age(self, covered_until_ms: int) -> None:
        """Start a generation for a new filter that has every key written before `covered_until_ms`."""
        if self._older_until_ms < covered_until_ms:
            self._older, self._older_until_ms = self._newer, self._newer_until_ms
        else:
            self._older |= self._newer
            self._older_until_ms = max(self._older_until_ms, self._newer_until_ms)
        self._newer, self._newer_until_ms = BitMap(), 0
        if self._older_until_ms < covered_until_ms:
            self._older, self._older_until_ms = BitMap(), 0
