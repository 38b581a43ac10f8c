"""Limits that processes share: one allowance, whoever asks, and nothing left behind by who dies."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from search_proxy.rate_limits import RateLimit, RateLimits
from search_proxy.shared_rate_limits import SharedRateLimits

LIMIT = RateLimit(per_minute=60, burst=5)


def opened(folder: Path, slot: int, now: list[float]) -> SharedRateLimits:
    """Return the limits of one of two workers."""
    return SharedRateLimits(folder / "rates", slot=slot, workers=2, clock=lambda: now[0])


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), st.floats(0, 3)), max_size=60))
def test_two_workers_decide_as_one_process_would(asked: list[tuple[int, str, float]]) -> None:
    """Whatever reaches whom, and when. The oracle is the limits of a process that serves alone."""
    now = [1000.0]
    alone = RateLimits(clock=lambda: now[0])
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(opened(Path(folder), 0, now)) as one,
        closing(opened(Path(folder), 1, now)) as other,
    ):
        for slot, caller, later in asked:
            now[0] += later
            assert abs((one, other)[slot].delay(caller, LIMIT) - alone.delay(caller, LIMIT)) < 1e-6


def test_places_in_flight_are_counted_over_all_workers(tmp_path: Path) -> None:
    """Three places are three, wherever they are taken."""
    now = [0.0]
    with closing(opened(tmp_path, 0, now)) as one, closing(opened(tmp_path, 1, now)) as other:
        assert [one.enter("k", 3), other.enter("k", 3), one.enter("k", 3)] == [True, True, True]
        assert not other.enter("k", 3)
        one.leave("k")
        assert other.enter("k", 3)
        one.leave("nobody")


def test_what_a_dead_worker_had_in_flight_ends_when_its_slot_starts_again(tmp_path: Path) -> None:
    """And what the other one has stays."""
    now = [0.0]
    with closing(opened(tmp_path, 1, now)) as other:
        with closing(opened(tmp_path, 0, now)) as dying:
            assert dying.enter("k", 2)
            assert other.enter("k", 2)
        assert not other.enter("k", 2)
        with closing(opened(tmp_path, 0, now)) as again:
            assert again.enter("k", 2)
            assert not again.enter("k", 2)


def test_more_callers_than_rows_are_served_and_memory_stays(tmp_path: Path) -> None:
    """The file has a fixed size; the idle are forgotten first."""
    now = [0.0]
    with closing(opened(tmp_path, 0, now)) as limits:
        size = (tmp_path / "rates").stat().st_size
        for number in range(20_000):
            now[0] += 0.1
            assert limits.delay(f"caller-{number}", LIMIT) == 0.0
        assert (tmp_path / "rates").stat().st_size == size < 1_000_000


_HAMMER = """
import sys, time
from pathlib import Path
from search_proxy.rate_limits import RateLimit
from search_proxy.shared_rate_limits import SharedRateLimits
limits = SharedRateLimits(Path(sys.argv[1]), slot=int(sys.argv[2]), workers=2, clock=lambda: 0.0)
limit = RateLimit(per_minute=1, burst=2000)
sys.stdout.write("up\\n"); sys.stdout.flush(); sys.stdin.readline()
print(sum(limits.delay("k", limit) == 0.0 for _ in range(2000)))
"""


def test_two_processes_that_race_admit_the_burst_and_not_one_more(tmp_path: Path) -> None:
    """Each asks two thousand times as fast as it can; the burst is two thousand."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _HAMMER, str(tmp_path / "rates"), str(slot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for slot in (0, 1)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
    admitted = [int(process.communicate("go\n", timeout=60)[0]) for process in processes]
    assert sum(admitted) == 2000


def test_a_process_that_is_stopped_in_the_middle_holds_nobody_up(tmp_path: Path) -> None:
    """A lock that is not let go of is waited for a moment and no longer."""
    script = (
        "import fcntl, os, sys\n"
        "file = os.open(sys.argv[1], os.O_RDWR)\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "sys.stdout.write('up\\n'); sys.stdout.flush(); sys.stdin.readline()\n"
    )
    with closing(opened(tmp_path, 0, [0.0])) as limits:
        holder = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "rates")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "up\n"
        holder.send_signal(signal.SIGSTOP)
        assert [limits.delay("k", LIMIT) for _ in range(5)] == [0.0] * 5
        assert limits.delay("k", LIMIT) > 0
        holder.kill()
        holder.communicate(timeout=10)
