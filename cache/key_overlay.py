"""The keys written since a filter was built, as roaring bitmaps of 32 bits of their fingerprints.

Two generations: a rebuild takes a while, and a key written meanwhile may be in neither the old filter nor
the new one. A swap ages the newer generation; the older one goes once the new filter covers all of it.
"""

from __future__ import annotations

from pyroaring import BitMap

LOW_BITS = 0xFFFFFFFF


class KeyOverlay:
    """A set of fingerprints that is never missing one: two keys that share 32 bits are both in it."""

    def __init__(self) -> None:
        self.lows = BitMap()
        """The low 32 bits of every fingerprint in it; read on every lookup, so without a call in between."""
        self._newer = BitMap()
        self._older = BitMap()
        self._newer_until_ms = 0
        self._older_until_ms = 0

    def __contains__(self, fingerprint: int) -> bool:
        return (fingerprint & LOW_BITS) in self.lows

    def __len__(self) -> int:
        return len(self.lows)

    def add(self, fingerprint: int, written_at_ms: int) -> None:
        """Add a key."""
        self._newer.add(fingerprint & LOW_BITS)
        self.lows.add(fingerprint & LOW_BITS)
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
        self.lows = BitMap(self._older)
