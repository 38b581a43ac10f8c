"""The negative filter of this process: a binary fuse filter per scope, and an overlay of what came after.

The overlay is complete from the moment the filter covers, because the change feed reads every key that any
process has written since. Where that feed is more than five seconds behind, the filter says "maybe".
"""

from __future__ import annotations

import asyncio
import logging
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from cache.errors import FilterDamaged
from cache.filter_files import FileStamp, FilterFiles
from cache.fuse_blob import FuseBlob, contain, hash_texts
from cache.key_overlay import LOW_BITS, KeyOverlay
from cache.keys import QueryKey, account_of, fingerprint_of, scope_of
from cache.membership_filter import FilterVerdict
from cache.query_table import KeyChange, QueryTable

logger = logging.getLogger(__name__)

SYNC_SECONDS = 5.0
"""How old the news from other processes may be before "absent" becomes "maybe"."""

OVERLAP_MS = 30_000
"""A key may reach the table this long after the time that is written on it: slow writes, clocks apart."""

_MAX_SCOPES = 4096

# Looking a member up in its enum costs more than looking a key up in its filter's overlay.
_ABSENT, _PRESENT, _ADDED = FilterVerdict.ABSENT, FilterVerdict.PRESENT, FilterVerdict.ADDED
_BEHIND, _OLD = FilterVerdict.BEHIND, FilterVerdict.OLD


@dataclass(slots=True)
class _Scope:
    blob: FuseBlob | None = None
    without: FilterVerdict = FilterVerdict.UNBUILT
    """What to say while there is no blob."""
    stamp: FileStamp | None = None
    overlay: KeyOverlay = field(default_factory=KeyOverlay)
    overlay_from_ms: float = float("inf")
    """The overlay has every key written since."""
    synced_at: float = float("-inf")
    old_at: float = float("-inf")
    """When the blob passes its maximum age, on the monotonic clock."""
    touched_at: float = 0.0


class FuseFilters:
    """The filters of every account and index that this process was asked about."""

    def __init__(
        self,
        files: FilterFiles,
        table: QueryTable,
        *,
        max_age_seconds: float,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files = files
        self._table = table
        self._max_age_ms = max_age_seconds * 1000
        self._clock = clock
        self._monotonic = monotonic
        self._scopes: dict[str, _Scope] = {}

    def verdict(self, key: QueryKey) -> FilterVerdict:
        """Return what is known of a key."""
        scope = self._scopes.get(key.scope) or self._new_scope(key.scope)
        now = scope.touched_at = self._monotonic()
        fingerprint = key.fingerprint
        if (fingerprint & LOW_BITS) in scope.overlay.lows:
            return _ADDED
        blob = scope.blob
        if blob is None:
            return scope.without
        if blob.keys and contain(fingerprint, blob.fuse):
            return _PRESENT
        if now - scope.synced_at > SYNC_SECONDS:
            return _BEHIND
        return _OLD if now > scope.old_at else _ABSENT

    def add(self, key: QueryKey, *, written_at_ms: int) -> None:
        """Make a key known to this process."""
        scope = self._scopes.get(key.scope) or self._new_scope(key.scope)
        scope.overlay.add(key.fingerprint, written_at_ms)

    def observe(self, scope_text: str, changes: Sequence[KeyChange]) -> None:
        """Take in keys that some process has written or deleted."""
        scope = self._scopes.get(scope_text) or self._new_scope(scope_text)
        for change in changes:
            scope.overlay.add(fingerprint_of(change.text), change.written_at_ms)

    def synced(self, scope_text: str, *, from_ms: int, at: float) -> None:
        """Note that everything written since `from_ms` has been observed, as of the monotonic time `at`."""
        scope = self._scopes.get(scope_text)
        if scope is None:
            return
        scope.overlay_from_ms = min(scope.overlay_from_ms, from_ms)
        if scope.blob is not None and scope.overlay_from_ms <= scope.blob.covered_until_ms:
            scope.synced_at = at

    def note_use(self, key: QueryKey) -> None:
        """Keep the key's scope up to date, though its answer came from the edge."""
        scope = self._scopes.get(key.scope) or self._new_scope(key.scope)
        scope.touched_at = self._monotonic()

    def known_scopes(self) -> Iterable[str]:
        """Return every scope that has an overlay here."""
        return self._scopes.keys()

    def active_scopes(self, within_seconds: float) -> list[str]:
        """Return the scopes asked about lately, the latest first."""
        since = self._monotonic() - within_seconds
        active = [
            (scope.touched_at, text) for text, scope in self._scopes.items() if scope.touched_at >= since
        ]
        return [text for _, text in sorted(active, reverse=True)]

    async def refresh(self, scope_text: str) -> int | None:
        """Load the scope's file where it has changed.

        Returns:
            The time from which changes must be read for the overlay to be complete; None where it is.
        """
        scope = self._scopes.get(scope_text) or self._new_scope(scope_text)
        stamp = await asyncio.to_thread(self._files.stamp, scope_text)
        if stamp != scope.stamp:
            await self._load(scope_text, scope, stamp)
        if scope.blob is None or scope.overlay_from_ms <= scope.blob.covered_until_ms:
            return None
        return scope.blob.covered_until_ms

    async def rebuild(self, account_id: str, index: str) -> int:
        """Build a scope's filter from the table and swap it in; return its keys.

        Raises:
            FilterBusy: Another process of this machine builds it right now.
            TierUnavailable: The table could not be read.
            OSError: The file could not be written; the old filter stays.
        """
        scope_text = scope_of(account_id, index)
        with self._files.building(scope_text):
            started_ms = int(self._clock() * 1000)
            fingerprints: array[int] = array("Q")
            async with aclosing(self._table.changes(scope_text, 0)) as pages:
                async for page in pages:
                    await asyncio.to_thread(hash_texts, [change.text for change in page], fingerprints)
            await asyncio.to_thread(self._write, scope_text, fingerprints, started_ms)
        await self.refresh(scope_text)
        return len(fingerprints)

    def rebuild_due(self, scope_text: str, *, every_seconds: float, after_writes: int) -> str | None:
        """Return why a scope's filter should be built again, None where it should not."""
        scope = self._scopes.get(scope_text)
        if scope is None:
            return None
        if scope.blob is None:
            return scope.without.value
        if len(scope.overlay) >= after_writes:
            return "writes"
        if self._clock() * 1000 - scope.blob.built_at_ms >= every_seconds * 1000:
            return "schedule"
        return None

    async def drop_account(self, account_id: str) -> None:
        """Forget the filters of an account, files included."""
        for text in [text for text in self._scopes if account_of(text) == account_id]:
            del self._scopes[text]
            await asyncio.to_thread(self._files.remove, text)

    def describe(self) -> dict[str, dict[str, float]]:
        """Return, per scope, what metrics show: keys, bytes, age, keys added since, seconds behind."""
        now_ms, now = self._clock() * 1000, self._monotonic()
        described = {}
        for text, scope in self._scopes.items():
            shown: dict[str, float] = {"added": len(scope.overlay)}
            if scope.blob is not None:
                shown["keys"] = scope.blob.keys
                shown["bytes"] = scope.blob.size_bytes
                shown["age_seconds"] = max(0.0, (now_ms - scope.blob.built_at_ms) / 1000)
            if scope.synced_at > float("-inf"):
                shown["behind_seconds"] = now - scope.synced_at
            described[text] = shown
        return described

    def _write(self, scope_text: str, fingerprints: array[int], started_ms: int) -> None:
        covered_until_ms = max(0, started_ms - OVERLAP_MS)
        blob = FuseBlob.build(
            scope_text, fingerprints, covered_until_ms=covered_until_ms, built_at_ms=started_ms
        )
        self._files.replace(scope_text, blob.encode())

    async def _load(self, scope_text: str, scope: _Scope, stamp: FileStamp | None) -> None:
        scope.stamp = stamp
        if stamp is None:
            scope.blob, scope.without = None, FilterVerdict.UNBUILT
            return
        try:
            blob = await asyncio.to_thread(self._read, scope_text)
        except (FilterDamaged, OSError) as error:
            logger.warning("cache_filter_damaged", extra={"scope": scope_text, "error": str(error)})
            scope.blob, scope.without = None, FilterVerdict.DAMAGED
            return
        scope.overlay.age(blob.covered_until_ms)
        scope.overlay_from_ms = max(scope.overlay_from_ms, blob.covered_until_ms)
        if scope.overlay_from_ms > blob.covered_until_ms:
            scope.synced_at = float("-inf")
        scope.blob = blob
        age_ms = self._clock() * 1000 - blob.built_at_ms
        scope.old_at = self._monotonic() + (self._max_age_ms - age_ms) / 1000

    def _read(self, scope_text: str) -> FuseBlob:
        return FuseBlob.decode(self._files.read(scope_text), scope_text)

    def _new_scope(self, text: str) -> _Scope:
        if len(self._scopes) >= _MAX_SCOPES:
            del self._scopes[min(self._scopes, key=lambda known: self._scopes[known].touched_at)]
        scope = self._scopes[text] = _Scope(touched_at=self._monotonic())
        return scope
