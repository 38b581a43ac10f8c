"""Runs: owned by the application, listened to by whoever comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from worker import run as run_module
from worker.errors import UpstreamFailed
from worker.events import Event, EventName
from worker.run import EventsLost, Run
from worker.run_registry import RunRegistry, open_run_registry

pytestmark = pytest.mark.anyio


@pytest.fixture
async def registry() -> AsyncIterator[RunRegistry]:
    """A registry whose runs end at once when nobody listens."""
    async with open_run_registry(grace_seconds=0.0, retention_seconds=60.0) as opened:
        yield opened


def _run() -> Run:
    return Run(account_id="acme", index="shop")


async def _read_all(run: Run, after: int = 0) -> list[Event]:
    async with asyncio.timeout(5):
        return [event async for event in run.events(after)]


async def test_two_readers_get_the_same_numbered_events_and_the_end_is_last(registry: RunRegistry) -> None:
    """Whoever subscribes reads the whole log. Source: decision 0003."""
    run = _run()

    async def work(run: Run) -> None:
        run.emit(EventName.INIT, {"categories": True})
        run.emit(EventName.DELTA, {"summary": "a"})

    registry.subscribe(run)
    registry.start(run, work)
    first, second = await _read_all(run), await _read_all(run)
    assert first == second
    assert [(event.seq, event.name) for event in first] == [(1, "init"), (2, "delta"), (3, "stream-end")]


async def test_a_reader_that_comes_back_gets_what_it_missed_while_the_run_works_on(
    registry: RunRegistry,
) -> None:
    """Reading from a number on starts after it, then follows live. Source: decision 0003."""
    run, gate = _run(), asyncio.Event()

    async def work(run: Run) -> None:
        run.emit(EventName.INIT, {})
        run.emit(EventName.DELTA, {"summary": "a"})
        await gate.wait()
        run.emit(EventName.DELTA, {"summary": "b"})

    registry.subscribe(run)
    registry.start(run, work)
    async with asyncio.timeout(5):
        events = run.events(after=1)
        assert (await anext(events)).data == {"summary": "a"}
        gate.set()
        assert [event.data async for event in events] == [{"summary": "b"}, {}]


async def test_a_run_without_listeners_is_cancelled_after_the_grace_with_all_its_tasks(
    registry: RunRegistry,
) -> None:
    """When the last subscriber has gone the work is cancelled, children included."""
    run, started, cancelled = _run(), asyncio.Event(), asyncio.Event()

    async def model_call() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def work(run: Run) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(model_call(), name="model-call")

    registry.subscribe(run)
    registry.start(run, work)
    async with asyncio.timeout(5):
        await started.wait()
        registry.unsubscribe(run)
        await cancelled.wait()
        assert [event.name for event in await _read_all(run)] == ["stream-end"]
    assert run.stopped_because == "client_gone"
    assert registry.active == 0


async def test_an_explicit_stop_ends_the_run_at_once_while_others_listen(registry: RunRegistry) -> None:
    """A stop does not wait for anybody's leaving."""
    run, started = _run(), asyncio.Event()

    async def work(run: Run) -> None:
        started.set()
        await asyncio.Event().wait()

    registry.subscribe(run)
    registry.start(run, work)
    async with asyncio.timeout(5):
        await started.wait()
        run.stop("stopped")
        assert [event.name for event in await _read_all(run)] == ["stream-end"]


async def test_a_failure_becomes_an_error_event_and_the_end_still_comes(registry: RunRegistry) -> None:
    """After the first byte failures are events. Source: docs/wire-format.md, errors."""
    run = _run()

    async def work(run: Run) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_fail(), name="fails")

    async def _fail() -> None:
        raise UpstreamFailed("the search could not be answered")

    registry.subscribe(run)
    registry.start(run, work)
    events = await _read_all(run)
    assert events[0].data["error"]["code"] == "upstream_failed"
    assert [event.name for event in events] == ["delta", "stream-end"]


async def test_draining_ends_open_runs_with_an_error_that_invites_a_retry(registry: RunRegistry) -> None:
    """A restart is said, not silently cut."""
    run, started = _run(), asyncio.Event()

    async def work(run: Run) -> None:
        started.set()
        await asyncio.Event().wait()

    registry.subscribe(run)
    registry.start(run, work)
    async with asyncio.timeout(5):
        await started.wait()
        registry.drain(0.0)
        events = await _read_all(run)
    assert registry.draining
    assert events[0].data["error"] == {
        "code": "shutting_down",
        "message": "the server is restarting; please ask again",
        "stage": "run",
        "retryable": True,
    }
    assert events[-1].name == "stream-end"


async def test_a_run_is_found_by_its_own_account_only(registry: RunRegistry) -> None:
    """A run id of another account is unknown."""
    run, gate = _run(), asyncio.Event()

    async def work(run: Run) -> None:
        await gate.wait()

    registry.subscribe(run)
    registry.start(run, work)
    assert registry.find(run.id, "acme", "owner") is run
    assert registry.find(run.id, "other", "owner") is None
    gate.set()
    await _read_all(run)
    assert registry.find(run.id, "acme", "owner") is run
    assert not run.has_events_after(run.last_seq)


async def test_events_that_have_left_the_bounded_log_are_said_to_be_lost() -> None:
    """The log is bounded; a reader too far behind is told so instead of being given a gap."""
    run = _run()
    for number in range(run_module.MAX_LOG_EVENTS + 10):
        run.emit(EventName.DELTA, {"n": number})
    with pytest.raises(EventsLost):
        run.pending_after(5)
    assert len(run.pending_after(10)) == run_module.MAX_LOG_EVENTS
