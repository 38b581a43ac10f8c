"""The log's own thread: what cannot be written is counted, and nobody waits for it."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.server_process import server_process
from tests.worker.observe.test_metrics import values
from worker.logs import JsonFormatter
from worker.observe.line_writer import MAX_WAITING_BYTES, LineWriter


@contextmanager
def logger_to(descriptor: int) -> Iterator[tuple[logging.Logger, LineWriter]]:
    """Yield a logger whose lines go to a descriptor."""
    writer = LineWriter(descriptor)
    writer.setFormatter(JsonFormatter())
    logger = logging.Logger("lines")
    logger.addHandler(writer)
    try:
        yield logger, writer
    finally:
        writer.flush()


def test_lines_are_written_whole_and_in_order_from_every_thread(tmp_path: Path) -> None:
    """Four threads, a thousand lines each."""
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    with logger_to(descriptor) as (logger, writer):

        def write(name: str) -> None:
            for number in range(1000):
                logger.info("line", extra={"thread_name": name, "number": number})

        threads = [threading.Thread(target=write, args=(f"t{each}",)) for each in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        writer.flush()
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    for each in range(4):
        assert [line["number"] for line in lines if line["thread_name"] == f"t{each}"] == list(range(1000))
    assert writer.lost == 0
    os.close(descriptor)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_loses_lines_counts_them_and_says_why() -> None:
    """And when there is room again, lines are written again."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    with logger_to(descriptor) as (logger, writer):
        for _ in range(100):
            logger.info("line")
        writer.flush()
        assert writer.lost == 100
        assert writer.error == "No space left on device"
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        logger.info("line")
        writer.flush()
        assert [writer.lost, writer.error] == [100, None]
        os.close(null)
    os.close(descriptor)


def test_a_pipe_that_nobody_reads_costs_bounded_memory_and_no_wait() -> None:
    """Ten times the bound is logged at once; what waits stays below it, the rest is counted."""
    reading, writing = os.pipe()
    writer = LineWriter(writing)
    writer.setFormatter(logging.Formatter("%(message)s"))
    line = logging.LogRecord("lines", logging.INFO, "", 0, "x" * 50_000, (), None)
    for _ in range(10 * MAX_WAITING_BYTES // 50_000):
        writer.handle(line)
    assert writer.lost > 8 * MAX_WAITING_BYTES // 50_000
    os.close(reading)
    writer.flush()
    assert writer.error == "Broken pipe"
    os.close(writing)


def test_a_line_that_cannot_be_made_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in a log call does not end a request."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    with logger_to(descriptor) as (logger, writer):
        logger.info("%d", "no number")
        assert writer.lost == 1
    assert "no number" in capsys.readouterr().err
    os.close(descriptor)


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
async def test_a_server_whose_log_cannot_be_written_serves_and_says_so(tmp_path: Path) -> None:
    """Standard error on a full disk: requests unharmed, the condition in metrics and /readyz."""
    (tmp_path / "server.log").symlink_to("/dev/full")
    async with (
        server_process(tmp_path, "serve", demo="true") as server,
        httpx.AsyncClient(base_url=server.url, timeout=20) as client,
    ):
        for _ in range(20):
            assert (await client.get("/api/v1/indexes/none/search?q=tent")).status_code == 404
        for _ in range(100):
            seen = values((await client.get("/metrics")).text)
            if seen["aisle_log_lines_lost_total"] >= 20:
                break
        ready = (await client.get("/readyz")).json()
    assert seen["aisle_log_lines_lost_total"] >= 20
    assert ready["status"] == "ready"
    assert (ready["log"]["state"], ready["log"]["error"]) == ("failing", "No space left on device")
