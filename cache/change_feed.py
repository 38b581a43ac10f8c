"""Brings what other processes have written, deleted or dropped into this one, from the table itself.

Every two seconds the scopes in use are asked for their latest keys: their filter learns them, and this
process's edge copy of a key that somebody else has changed is let go. Dropped accounts come the same way.
The position in the feed moves with the times on the rows, so that a local clock that jumps skips nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from cache.fuse_filter import OVERLAP_MS, FuseFilters
from cache.query_table import DROPS_SCOPE, KeyChange, QueryTable

POLL_SECONDS = 2.0
ACTIVE_SECONDS = 7200.0
"""The edge's max age: a scope that was not asked about for this long has no edge copy left to let go.

It is not polled; its first lookup says "maybe", and its position in the feed is kept.
"""

_MAX_POLLED = 1024
"""At 2 ms a poll, a round is over before the news is too old."""

_MAX_SEEN = 100_000


@dataclass(slots=True)
class _Position:
    from_ms: int
    latest_ms: int
    moved_at: float
    seen: dict[str, int] = field(default_factory=dict)

    def since_ms(self, now: float) -> int:
        """Return where to read on: behind the latest row for a while, for rows that arrive late."""
        if (now - self.moved_at) * 1000 > OVERLAP_MS:
            return self.latest_ms + 1
        return max(self.from_ms, self.latest_ms - OVERLAP_MS)


class ChangeFeed:
    """Reads the table's changes into the filters, and reports foreign ones."""

    def __init__(
        self,
        table: QueryTable,
        filters: FuseFilters,
        *,
        on_foreign_change: Callable[[str], Awaitable[None]],
        on_drop: Callable[[str, int], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table = table
        self._filters = filters
        self._on_foreign_change = on_foreign_change
        self._on_drop = on_drop
        self._clock = clock
        self._monotonic = monotonic
        self._positions: dict[str, _Position] = {}
        self._own: dict[str, int] = {}
        self._polling = asyncio.Lock()

    def note_own(self, key_text: str, written_at_ms: int) -> None:
        """Remember a write of this process, whose edge copy is the right one."""
        if len(self._own) >= _MAX_SEEN:
            self._own.clear()
        self._own[key_text] = written_at_ms

    async def poll(self) -> None:
        """Read what is new once.

        Raises:
            TierUnavailable: The table could not answer; the filters say "maybe" until it does.
        """
        async with self._polling:
            await self._poll()

    async def _poll(self) -> None:
        await self._poll_drops()
        active = self._filters.active_scopes(ACTIVE_SECONDS)[:_MAX_POLLED]
        for gone in self._positions.keys() - {DROPS_SCOPE, *self._filters.known_scopes()}:
            del self._positions[gone]
        for scope in active:
            await self._poll_scope(scope)

    async def _poll_drops(self) -> None:
        position = self._positions.get(DROPS_SCOPE) or self._start(DROPS_SCOPE, 0)

        async def take(changes: Sequence[KeyChange]) -> None:
            for account_id, dropped_at_ms in changes:
                await self._on_drop(account_id, dropped_at_ms)

        await self._read(DROPS_SCOPE, position, take)

    async def _poll_scope(self, scope: str) -> None:
        needed_from_ms = await self._filters.refresh(scope)
        position = self._positions.get(scope)
        now_ms = int(self._clock() * 1000)
        if position is None:
            position = self._start(scope, now_ms - OVERLAP_MS if needed_from_ms is None else needed_from_ms)
        if needed_from_ms is not None and needed_from_ms < position.from_ms:
            position = self._start(scope, needed_from_ms)
        started = self._monotonic()

        async def take(changes: Sequence[KeyChange]) -> None:
            self._filters.observe(scope, changes)
            for change in changes:
                if self._own.pop(change.text, None) != change.written_at_ms:
                    await self._on_foreign_change(change.text)

        await self._read(scope, position, take)
        self._filters.synced(scope, from_ms=position.from_ms, at=started)

    async def _read(
        self, scope: str, position: _Position, take: Callable[[Sequence[KeyChange]], Awaitable[None]]
    ) -> None:
        since_ms = position.since_ms(self._monotonic())
        seen = position.seen = {text: at for text, at in position.seen.items() if at >= since_ms}
        latest_ms = position.latest_ms
        async with aclosing(self._table.changes(scope, since_ms)) as pages:
            async for page in pages:
                unseen = [change for change in page if seen.get(change.text) != change.written_at_ms]
                await take(unseen)
                if len(seen) + len(unseen) > _MAX_SEEN:
                    seen.clear()
                seen.update(unseen)
                latest_ms = max(latest_ms, page[-1].written_at_ms)
        # A row from the future must not carry the position past rows that are still to come.
        latest_ms = min(latest_ms, max(position.latest_ms, int(self._clock() * 1000)))
        if latest_ms > position.latest_ms:
            position.latest_ms, position.moved_at = latest_ms, self._monotonic()

    def _start(self, scope: str, from_ms: int) -> _Position:
        position = _Position(from_ms=max(0, from_ms), latest_ms=max(0, from_ms), moved_at=self._monotonic())
        self._positions[scope] = position
        return position
