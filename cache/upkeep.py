"""What an open cache does by itself: reads changes, builds filters that are due, deletes what has expired."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from cache.change_feed import ACTIVE_SECONDS, ChangeFeed
from cache.errors import CacheError, FilterBusy, TierUnavailable
from cache.fuse_filter import FuseFilters
from cache.keys import account_of, index_of
from cache.query_table import QueryTable
from cache.sqlite_table import SqliteTable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The two loops of an open cache."""

    feed: ChangeFeed
    filters: FuseFilters
    table: QueryTable
    poll_seconds: float
    upkeep_seconds: float
    rebuild_seconds: float
    rebuild_writes: int

    async def follow_changes(self) -> None:
        """Poll the change feed for ever; a table that fails is asked again next time."""
        while True:
            try:
                await self.feed.poll()
            except (CacheError, OSError) as error:
                logger.warning("cache_feed_failed", extra={"tier": "feed", "error": str(error)})
            await asyncio.sleep(self.poll_seconds)

    async def maintain(self) -> None:
        """Build due filters and purge, for ever."""
        while True:
            await asyncio.sleep(self.upkeep_seconds)
            await self.maintain_once()

    async def maintain_once(self) -> None:
        """Build every filter that is due, then purge what has expired."""
        for scope in self.filters.active_scopes(ACTIVE_SECONDS):
            why = self.filters.rebuild_due(
                scope, every_seconds=self.rebuild_seconds, after_writes=self.rebuild_writes
            )
            if why is not None:
                await self._rebuild(scope, why)
        if isinstance(self.table, SqliteTable):
            try:
                await self.table.purge_expired()
            except TierUnavailable as error:
                logger.warning("cache_purge_failed", extra={"tier": error.tier, "error": str(error)})

    async def _rebuild(self, scope: str, why: str) -> None:
        facts = {"scope": scope, "why": why}
        try:
            keys = await self.filters.rebuild(account_of(scope), index_of(scope))
        except FilterBusy:
            logger.info("cache_filter_busy", extra=facts)
        except (CacheError, OSError) as error:
            logger.warning("cache_filter_not_rebuilt", extra={**facts, "error": str(error)})
        else:
            logger.info("cache_filter_rebuilt", extra={**facts, "keys": keys})
