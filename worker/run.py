"""A run: one answer being made, owned by the application and not by any response.

Its events are numbered and kept in a bounded log; responses subscribe, read at their own pace, and may come
back for what they missed. When the last subscriber has been gone for the grace, the run is cancelled, model
call and all (docs/decisions/0003-runs-are-owned-by-the-application.md).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from worker.errors import WorkerError
from worker.events import Event, EventName, SharedEvents
from worker.packed_events import PackedEvents

logger = logging.getLogger(__name__)

MAX_LOG_EVENTS = 4096
"""A run emits some ten events and a summary in pieces; this is far above any real answer."""
MAX_LOG_BYTES = 8 * 1024 * 1024
"""Six categories of 100 large hits stay under 4 MiB."""


class Outcome(StrEnum):
    """How a run ended."""

    OK = "ok"
    DEGRADED = "degraded"
    ERROR = "error"
    CANCELED = "canceled"


class EventsLost(Exception):
    """A subscriber asked for events that the bounded log no longer has."""


class Run:
    """One answer being made: its log of events, its subscribers, and its end.

    `rights` are those of the caller whom it answers; nobody with others gets its events.
    `stopped_because` says why a run was cancelled: `client_gone`, `stopped` or `shutting_down`.
    """

    def __init__(
        self,
        *,
        account_id: str,
        index: str,
        rights: str = "",
        end_event: EventName = EventName.STREAM_END,
    ) -> None:
        self.id = secrets.token_hex(12)
        self.account_id = account_id
        self.index = index
        self.rights = rights
        self.conversation_id: str | None = None
        self.stopped_because: str | None = None
        self.finished = False
        self.subscribers = 0
        self.log_bytes = 0
        self.shared: SharedEvents | None = None
        self.kept_until = 0.0
        self._end_event = end_event
        self._log: deque[Event] = deque()
        self._packed: PackedEvents | None = None
        self._next_seq = 1
        self._waiting: list[asyncio.Future[None]] = []
        self._hearers: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        # Named by its class: a bound method would be a cycle, and keep every event until a collection.
        self._error_event: Callable[[Run, str, str, bool], None] = Run._emit_delta_error

    def emit(self, name: EventName, data: Mapping[str, Any]) -> None:
        """Append an event and wake every subscriber; nothing is accepted after the end."""
        if self.finished:
            return
        event = Event.of(self._next_seq, name, data)
        self._next_seq += 1
        self._log.append(event)
        self.log_bytes += len(event.json)
        while len(self._log) > MAX_LOG_EVENTS or self.log_bytes > MAX_LOG_BYTES and len(self._log) > 1:
            self.log_bytes -= len(self._log.popleft().json)
        self.nudge()

    def emit_shared(self, shared: SharedEvents) -> None:
        """Begin with events that others emit too, and wake every subscriber; they are not in `log_bytes`."""
        if not self.finished and self.last_seq == 0:
            self.shared = shared
            for name, encoded in shared.events:
                self._log.append(Event(self._next_seq, name, encoded))
                self._next_seq += 1
            self.nudge()

    def nudge(self) -> None:
        """Let every wait for news return and call every hearer, whether there is any or not."""
        for hear in self._hearers:
            hear()
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                if not each.done():
                    each.set_result(None)

    @contextmanager
    def heard_by(self, hear: Callable[[], None]) -> Iterator[None]:
        """Call `hear`, which MUST not raise, with every piece of news in the turn of the loop that has it."""
        self._hearers.append(hear)
        try:
            yield
        finally:
            self._hearers.remove(hear)

    def has_events_after(self, seq: int) -> bool:
        """Return whether a subscriber that saw `seq` last would get anything, now or later."""
        return not self.finished or seq < self._next_seq - 1

    @property
    def last_seq(self) -> int:
        """The number of the newest event, 0 before the first."""
        return self._next_seq - 1

    def pending_after(self, seq: int) -> list[Event]:
        """Return the events after `seq` that are there already.

        Raises:
            EventsLost: Some of them have left the bounded log.
        """
        if self._next_seq <= seq + 1:
            return []
        if self._packed is None and self._next_seq == seq + 2:
            return [self._log[-1]]
        log = self._log if self._packed is None else self._packed.unpacked()
        first = log[0].seq
        if seq + 1 < first:
            raise EventsLost(f"event {seq + 1} of run {self.id} is no longer kept")
        return [log[position] for position in range(seq + 1 - first, len(log))]

    def pack(self) -> None:
        """Compress the log of a run that has ended; `log_bytes` is then what it takes."""
        if self.finished and self._packed is None and self._log and self.shared is None:
            self._packed = PackedEvents.of(self._log[0].seq, self._log)
            self._log = deque()
            self.log_bytes = len(self._packed.body)

    async def wait_for_news(self, seq: int) -> None:
        """Return when an event after `seq` is there, the run has ended, or somebody has nudged it."""
        if not self.finished and self.last_seq <= seq:
            news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(news)
            await news

    async def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yield every event after `after`, as they come, until the end."""
        seq = after
        while True:
            for event in self.pending_after(seq):
                seq = event.seq
                yield event
            if self.finished and seq >= self.last_seq:
                return
            await self.wait_for_news(seq)

    def stop(self, because: str) -> None:
        """Cancel the run's work at once; its subscribers still get the end event."""
        if self.finished or self.stopped_because is not None:
            return
        self.stopped_because = because
        if self._task is not None:
            self._task.cancel()

    async def execute(self, work: Callable[[Run], Awaitable[None]]) -> None:
        """Do the work and emit the end event, however the work ends."""
        self._task = asyncio.current_task()
        try:
            if self.stopped_because is None:
                await work(self)
        except asyncio.CancelledError:
            if self.stopped_because == "shutting_down":
                self._error_event(self, "shutting_down", "the server is restarting; please ask again", True)
            elif self.stopped_because is None:
                raise
        except Exception as error:  # noqa: BLE001 - the stream's edge: every failure becomes an event
            self._report(error)
        finally:
            self.emit(self._end_event, {})
            self.finished = True
            self.nudge()
            self._task = None

    def _report(self, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, WorkerError):
            self._error_event(self, error.code, error.message, error.retryable)
        else:
            logger.error("run_failed", exc_info=error, extra={"run_id": self.id})
            self._error_event(self, "internal", "something went wrong on our side", True)

    def speak_converse(self) -> None:
        """Send failures as the conversation stream's `error` event instead of `delta.error`."""
        self._error_event = Run._emit_error

    def _emit_delta_error(self, code: str, message: str, retryable: bool) -> None:
        error = {"code": code, "message": message, "stage": "run", "retryable": retryable}
        self.emit(EventName.DELTA, {"error": error})

    def _emit_error(self, code: str, message: str, retryable: bool) -> None:
        error = {"code": code, "message": message, "stage": "run", "retryable": retryable}
        self.emit(EventName.ERROR, error)
