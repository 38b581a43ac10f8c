"""Finished runs: what they said can be read again, and takes little memory meanwhile."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator

import pytest

from worker.errors import UpstreamFailed
from worker.events import Event, EventName, SharedEvents
from worker.packed_events import PackedEvents
from worker.run import MAX_LOG_EVENTS, EventsLost, Run
from worker.run_registry import MAX_FINISHED_BYTES, MAX_UNPACKED_BYTES, RunRegistry, open_run_registry

pytestmark = pytest.mark.anyio

_PRODUCT = {
    "productTitle": "Café set, red\nor blue",
    "description": "keeps warm for many nights outside. " * 8,
}
_RUNS = 120


@pytest.fixture
async def registry() -> AsyncIterator[RunRegistry]:
    """A registry whose runs go on without a listener until they end."""
    async with open_run_registry(grace_seconds=60.0, retention_seconds=60.0) as opened:
        yield opened


async def _finished(registry: RunRegistry, number: int = 0) -> Run:
    """Return a run that has ended, after events of 60 KB."""
    run = Run(account_id="acme", index="shop")
    run.conversation_id = f"c{number}"

    async def work(run: Run) -> None:
        run.emit(EventName.INIT, {"n": number})
        for place in range(6):
            run.emit(
                EventName.DELTA, {"hits": [{**_PRODUCT, "_id": f"{place}-{each}"} for each in range(30)]}
            )
        run.emit(EventName.DELTA, {"summary": "warm "})

    registry.start(run, work)
    await _ended(registry, run)
    return run


async def _ended(registry: RunRegistry, run: Run) -> None:
    async with asyncio.timeout(5):
        while registry.active:
            await run.wait_for_news(run.last_seq)
            await asyncio.sleep(0)


async def test_a_packed_log_reads_as_before_from_wherever_a_reader_comes_back() -> None:
    """Numbers, names and data are the same; what has left the bounded log is still said to be lost."""
    events = [
        Event.of(5, EventName.INIT, {"a": "line\nbreak ü"}),
        Event.of(6, EventName.CATEGORY_HITS, {"b": [" ", None]}),
        Event.of(7, EventName.STREAM_END, {}),
    ]
    packed = PackedEvents.of(5, events)
    assert packed.unpacked() == events
    assert [event.frame("r") for event in packed.unpacked()] == [event.frame("r") for event in events]


async def test_many_finished_runs_take_a_part_of_what_they_said_and_are_all_readable(
    registry: RunRegistry,
) -> None:
    """The newest stay as they are, the others are packed; none is lost before its time."""
    runs = [await _finished(registry, number) for number in range(_RUNS)]
    said = sum(len(event.json) for run in runs for event in run.pending_after(0))
    assert said > MAX_FINISHED_BYTES
    held = sum(run.log_bytes for run in runs)
    assert held < MAX_UNPACKED_BYTES + said / 10
    for number, run in enumerate(runs):
        assert registry.find(run.id, "acme", "owner") is run
        events = run.pending_after(0)
        assert [event.seq for event in events] == list(range(1, run.last_seq + 1))
        assert events[0].data == {"n": number}
        assert events[-1].name == EventName.STREAM_END
        assert [event.data for event in run.pending_after(7)] == [{"summary": "warm "}, {}]
        assert run.pending_after(run.last_seq) == []


async def test_what_many_runs_have_said_alike_is_kept_once(registry: RunRegistry) -> None:
    """Runs that share their events are all readable, and take no more than one of them."""
    data = b'{"summary": "%b"}' % (b"x" * 100_000)
    shared = SharedEvents(((EventName.INIT, b'{"n": 1}'), (EventName.DELTA, data)))

    async def work(run: Run) -> None:
        run.emit_shared(shared)
        run.emit(EventName.DELTA, {"receipt": run.id})

    runs = [Run(account_id="acme", index="shop") for _ in range(2 * MAX_FINISHED_BYTES // len(data))]
    for run in runs:
        registry.start(run, work)
    await _ended(registry, runs[-1])
    for run in runs:
        assert registry.find(run.id, "acme", "owner") is run
        assert [event.seq for event in run.pending_after(0)] == [1, 2, 3, 4]
        assert run.pending_after(1)[0].json is data
        assert run.pending_after(2)[0].data == {"receipt": run.id}
    assert shared.holders == len(runs)
    # Others' events come and push them out; then nothing of them is counted any more.
    for number in range(_RUNS):
        await _finished(registry, number)
    while registry.find(runs[-1].id, "acme", "owner") is not None:
        await _finished(registry)
    assert shared.holders == 0


async def test_a_packed_run_says_what_its_bounded_log_had_lost(registry: RunRegistry) -> None:
    """Packing gives nobody a gap."""
    run = Run(account_id="acme", index="shop")

    async def work(run: Run) -> None:
        for number in range(MAX_LOG_EVENTS + 9):
            run.emit(EventName.DELTA, {"n": number})

    registry.start(run, work)
    async with asyncio.timeout(5):
        assert [event.seq async for event in run.events(MAX_LOG_EVENTS)][-1] == MAX_LOG_EVENTS + 10
    run.pack()
    assert len(run.pending_after(10)) == MAX_LOG_EVENTS
    with pytest.raises(EventsLost):
        run.pending_after(9)


async def test_a_forgotten_conversation_is_gone_packed_or_not(registry: RunRegistry) -> None:
    """Nothing of it stays in memory, wherever it was kept."""
    runs = [await _finished(registry, number) for number in range(40)]
    oldest, newest = weakref.ref(runs[0]), weakref.ref(runs[-1])
    assert (runs[0].log_bytes < 20_000, runs[-1].log_bytes > 20_000) == (True, True)
    del runs
    gc.disable()
    try:
        registry.forget_conversation("acme", "c0")
        registry.forget_conversation("acme", "c39")
        assert (oldest(), newest()) == (None, None)
    finally:
        gc.enable()


async def test_a_run_that_nobody_keeps_is_let_go_at_once(registry: RunRegistry) -> None:
    """No cycle keeps its events until a garbage collection, however it ended."""

    async def fail(run: Run) -> None:
        raise UpstreamFailed("the search could not be answered")

    gc.disable()
    try:
        for converses in (False, True):
            run = Run(account_id="acme", index="shop")
            if converses:
                run.speak_converse()
            registry.subscribe(run)
            registry.start(run, fail)
            async with asyncio.timeout(5):
                events = [event.name async for event in run.events()]
            assert events == [EventName.ERROR if converses else EventName.DELTA, EventName.STREAM_END]
            registry.unsubscribe(run)
            held = weakref.ref(run)
            run.conversation_id = "c"
            await _ended(registry, run)
            del run
            registry.forget_conversation("acme", "c")
            assert held() is None
    finally:
        gc.enable()


async def _moment(at: float) -> None:
    """Return at a moment of the event loop's clock, behind what is due before it."""
    reached = asyncio.Event()
    asyncio.get_running_loop().call_at(at, reached.set)
    async with asyncio.timeout(5):
        await reached.wait()


async def test_each_finished_run_is_forgotten_when_its_own_time_is_over() -> None:
    """The first one's end does not take the later ones along, and none stays."""
    loop = asyncio.get_running_loop()
    async with open_run_registry(grace_seconds=60.0, retention_seconds=0.3) as registry:
        first = await _finished(registry)
        await _moment(first.kept_until - 0.15)
        second = await _finished(registry)
        await _moment(first.kept_until + 0.02)
        assert registry.find(first.id, "acme", "owner") is None
        assert registry.find(second.id, "acme", "owner") is second or loop.time() >= second.kept_until
        await _moment(second.kept_until + 0.02)
        assert registry.find(second.id, "acme", "owner") is None
        third = await _finished(registry)
        await _moment(third.kept_until + 0.02)
        assert registry.find(third.id, "acme", "owner") is None
