"""The application's runs: started here, found again here, stopped here.

One task group holds them all, so that none outlives the application and none is lost.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from worker.run import Run
from worker.young_objects import YoungObjects

MAX_FINISHED_RUNS = 2000
MAX_FINISHED_BYTES = 6 * 1024 * 1024
"""What finished runs may keep for late readers, together."""
MAX_UNPACKED_BYTES = 1024 * 1024
"""The newest finished runs stay as they are, for this much: few answers, or those of a quiet hour, are not
worth the compression. Source: docs/performance.md."""
_LATE_COMERS_SECONDS = 0.5


class RunRegistry:
    """Runs by id: the active ones, and for a while the finished ones.

    Made by `open_run_registry`; `grace_seconds` is how long a run works on with nobody listening. `listeners`
    and `resumes`, how those who came back for a run fared, are for the metrics.
    """

    def __init__(self, group: asyncio.TaskGroup, *, grace_seconds: float, retention_seconds: float) -> None:
        self._group = group
        self._grace_seconds = grace_seconds
        self._retention_seconds = retention_seconds
        self._active: dict[str, Run] = {}
        self._finished: OrderedDict[str, Run] = OrderedDict()
        self._finished_bytes = 0
        self._sweeping = False
        self._unpacked: OrderedDict[str, Run] = OrderedDict()
        self._unpacked_bytes = 0
        self._young = YoungObjects()
        self._draining = False
        self._refuse_at = float("inf")
        self.listeners = 0
        self.resumes: Counter[str] = Counter()

    @property
    def active(self) -> int:
        """How many runs are working."""
        return len(self._active)

    def of(self, account_id: str) -> tuple[int, int]:
        """Return how many clients an account's working runs are streamed to, and how many runs these are."""
        runs = [run for run in self._active.values() if run.account_id == account_id]
        return sum(run.subscribers for run in runs), len(runs)

    @property
    def draining(self) -> bool:
        """Whether the application is going down."""
        return self._draining

    @property
    def accepting(self) -> bool:
        """Whether a new run is taken: also for a moment while going down, for who was on the way here."""
        return asyncio.get_running_loop().time() < self._refuse_at

    def start(self, run: Run, work: Callable[[Run], Awaitable[None]]) -> None:
        """Start the run's work; with no subscriber within the grace it is cancelled again."""
        self._active[run.id] = run
        self._group.create_task(self._execute(run, work), name=f"run:{run.id}")
        self._watch(run)

    def find(self, run_id: str, account_id: str, rights: str) -> Run | None:
        """Return the account's run of that id, active or lately finished, to who may see what it says."""
        run = self._active.get(run_id) or self._finished.get(run_id)
        if run is None or run.account_id != account_id:
            return None
        return run if rights in (run.rights, "owner") else None

    def forget_conversation(self, account_id: str, conversation_id: str) -> None:
        """Let go of what finished runs of a conversation have said; one that works goes on to its end."""
        for run in list(self._finished.values()):
            if run.account_id == account_id and run.conversation_id == conversation_id:
                self._forget(run.id)

    def subscribe(self, run: Run) -> None:
        """Count one more listener."""
        run.subscribers += 1
        self.listeners += 1

    def unsubscribe(self, run: Run) -> None:
        """Count one listener less; after the last one the grace begins."""
        run.subscribers -= 1
        self.listeners -= 1
        if run.subscribers == 0 and not run.finished:
            self._watch(run)

    def drain(self, after_seconds: float) -> None:
        """Take no new runs, in a moment; after `after_seconds` end the working ones, each with an error."""
        self._draining = True
        loop = asyncio.get_running_loop()
        self._refuse_at = loop.time() + min(_LATE_COMERS_SECONDS, after_seconds / 2)
        asyncio.get_running_loop().call_later(after_seconds, self.stop_all)

    def stop_all(self) -> None:
        """End every working run now, with an error and the end event."""
        for run in list(self._active.values()):
            run.stop("shutting_down")

    async def _execute(self, run: Run, work: Callable[[Run], Awaitable[None]]) -> None:
        try:
            await run.execute(work)
        finally:
            self._retire(run)
            self._young.look()

    def _watch(self, run: Run) -> None:
        asyncio.get_running_loop().call_later(self._grace_seconds, self._stop_if_alone, run.id)

    def _stop_if_alone(self, run_id: str) -> None:
        run = self._active.get(run_id)
        if run is not None and run.subscribers == 0:
            run.stop("client_gone")

    def _retire(self, run: Run) -> None:
        self._active.pop(run.id, None)
        self._finished[run.id] = run
        self._finished_bytes += run.log_bytes
        if run.shared is not None:
            if run.shared.holders == 0:
                self._finished_bytes += run.shared.size
            run.shared.holders += 1
        else:
            self._unpacked[run.id] = run
            self._unpacked_bytes += run.log_bytes
        while self._unpacked_bytes > MAX_UNPACKED_BYTES:
            self._pack_oldest()
        while self._finished and (
            len(self._finished) > MAX_FINISHED_RUNS or self._finished_bytes > MAX_FINISHED_BYTES
        ):
            self._forget(next(iter(self._finished)))
        loop = asyncio.get_running_loop()
        run.kept_until = loop.time() + self._retention_seconds
        if not self._sweeping:
            self._sweeping = True
            loop.call_at(run.kept_until, self._sweep)

    def _sweep(self) -> None:
        """Forget the runs whose time is over: one timer for all of them, however many end in a minute."""
        loop = asyncio.get_running_loop()
        self._sweeping = False
        while self._finished and not self._sweeping:
            oldest = next(iter(self._finished.values()))
            if oldest.kept_until <= loop.time():
                self._forget(oldest.id)
            else:
                self._sweeping = True
                loop.call_at(oldest.kept_until, self._sweep)

    def _pack_oldest(self) -> None:
        run = self._unpacked.popitem(last=False)[1]
        self._unpacked_bytes -= run.log_bytes
        self._finished_bytes -= run.log_bytes
        run.pack()
        self._finished_bytes += run.log_bytes

    def _forget(self, run_id: str) -> None:
        run = self._finished.pop(run_id, None)
        if run is None:
            return
        self._finished_bytes -= run.log_bytes
        if run.shared is not None:
            run.shared.holders -= 1
            if run.shared.holders == 0:
                self._finished_bytes -= run.shared.size
        if self._unpacked.pop(run_id, None) is not None:
            self._unpacked_bytes -= run.log_bytes


@asynccontextmanager
async def open_run_registry(*, grace_seconds: float, retention_seconds: float) -> AsyncIterator[RunRegistry]:
    """Open a registry; on leaving, every working run is stopped and waited for."""
    async with asyncio.TaskGroup() as group:
        registry = RunRegistry(group, grace_seconds=grace_seconds, retention_seconds=retention_seconds)
        try:
            yield registry
        finally:
            registry.stop_all()
