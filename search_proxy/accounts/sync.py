"""Settings sync: every process of a deployment takes in what any of them has written, within seconds.

The store is asked for what changed once a second. A store that fails leaves the known state in use, and the
time of the last good answer is there for `/readyz` and for whoever watches.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.errors import AccountError
from search_proxy.accounts.store import AccountStore

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0
"""A change is in use everywhere within two of these, well under the promised 5 s."""


class AccountSync:
    """Keeps a directory up to date with a store."""

    def __init__(
        self,
        store: AccountStore,
        directory: AccountDirectory,
        *,
        interval_seconds: float = INTERVAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._directory = directory
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._cursor = 0
        self._synced_at = clock()
        self._turn = asyncio.Lock()
        self._stopped = asyncio.Event()

    @property
    def age_seconds(self) -> float:
        """How long ago the store last answered."""
        return self._clock() - self._synced_at

    async def refresh(self) -> int:
        """Take in what changed; return how many accounts.

        Raises:
            AccountError: The store could not answer.
        """
        async with self._turn:
            started = self._clock()
            accounts, self._cursor = await self._store.changed_since(self._cursor)
            self._synced_at = started
            return sum(self._directory.apply(account) for account in accounts)

    async def run(self) -> None:
        """Refresh until `stop`; a failure is logged and tried again."""
        while not await self._stops_within_the_interval():
            try:
                await self.refresh()
            except AccountError:
                logger.exception("settings_sync_failed", extra={"age_seconds": round(self.age_seconds, 1)})

    def stop(self) -> None:
        """End `run`."""
        self._stopped.set()

    async def _stops_within_the_interval(self) -> bool:
        try:
            async with asyncio.timeout(self._interval_seconds):
                return await self._stopped.wait()
        except TimeoutError:
            return False


@asynccontextmanager
async def synced_directory(
    store: AccountStore, *, interval_seconds: float = INTERVAL_SECONDS
) -> AsyncIterator[tuple[AccountDirectory, AccountSync]]:
    """Yield a directory that holds every account of the store and follows it until the block ends.

    Raises:
        AccountError: The first reading failed: a process without its accounts must not serve.
    """
    directory = AccountDirectory()
    sync = AccountSync(store, directory, interval_seconds=interval_seconds)
    await sync.refresh()
    async with asyncio.TaskGroup() as running:
        running.create_task(sync.run(), name="settings sync")
        try:
            yield directory, sync
        finally:
            sync.stop()
