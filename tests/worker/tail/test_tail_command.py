"""`aisle tail` as a person runs it: a process of its own, over pipes, files and a real server."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.shop import open_shop
from tests.worker.tail.completions import completion

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def _tail(*arguments: str, **streams: Any) -> Any:
    """Yield a running `aisle tail`; killed on leaving if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "worker.cli", "tail", *arguments, stdout=PIPE, stderr=PIPE, **streams
    )
    try:
        async with asyncio.timeout(40):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _run(*arguments: str, given: bytes | None = None) -> tuple[int, str, str]:
    async with _tail(*arguments, stdin=PIPE) as process:
        out, err = await process.communicate(given)
        return process.returncode, out.decode(), err.decode()


def _log(*facts: dict[str, Any], junk: Sequence[str] = ()) -> bytes:
    lines = [orjson.dumps(completion(**each).as_line()).decode() for each in facts]
    return "".join(f"{line}\n" for line in (*lines, *junk)).encode()


async def test_a_log_on_standard_input_is_filtered_drawn_and_summed_up() -> None:
    """Other lines of the log pass unseen; what is no line is counted."""
    log = _log(
        {"outcome": "error", "error": "internal"}, {}, {"source": "cached"},
        junk=['{"event": "started"}', "Traceback (most recent call last):", "[1]"],
    )  # fmt: skip
    status, out, err = await _run("--status", "ok", "-", given=log)
    assert (status, err) == (0, "")
    assert out.count("shop/main") == 2
    assert "internal" not in out
    assert "\x1b" not in out
    assert "2 requests\n2 lines could not be read\nby source: llm 1, cached 1\nby outcome: ok 2\n" in out


async def test_json_form_is_the_log_lines_themselves(tmp_path: Path) -> None:
    """To be read by the next program: nothing but lines."""
    log = tmp_path / "server.log"
    log.write_bytes(_log({"filters_dropped": 2}, {"filters_dropped": 0}))
    status, out, _ = await _run("--filter-dropped", "--format", "json", str(log))
    assert status == 0
    assert [json.loads(line)["filters_dropped"] for line in out.splitlines()] == [2]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--source", "gpt", "-"), 2, "aisle tail: --source 'gpt' is unknown; it is one of llm, cached"),
        (("--slower-than", "x", "-"), 2, "aisle tail: --slower-than 'x' is no number of milliseconds"),
        (("/nowhere/server.log",), 1, "'/nowhere/server.log' cannot be read: No such file or directory"),
    ],
)
async def test_what_cannot_be_followed_is_said(arguments: tuple[str, ...], status: int, message: str) -> None:
    """2 for an option, 1 for a place."""
    got, _, err = await _run(*arguments, given=b"")
    assert got == status
    assert message in err


async def test_a_growing_log_is_followed_over_its_rotation_until_interrupted(tmp_path: Path) -> None:
    """As `tail -F`; the summary comes with the interrupt."""
    log = tmp_path / "server.log"
    log.write_bytes(_log({"run_id": "first"}))
    async with _tail("-f", "--format", "json", str(log)) as process:
        seen = [json.loads(await process.stdout.readline())["run_id"]]
        with log.open("ab") as file:
            file.write(_log({"run_id": "second"}))
        seen.append(json.loads(await process.stdout.readline())["run_id"])
        log.rename(tmp_path / "server.log.1")
        log.write_bytes(_log({"run_id": "third"}))
        seen.append(json.loads(await process.stdout.readline())["run_id"])
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    assert seen == ["first", "second", "third"]


async def test_a_server_is_followed_until_it_ends_the_stream(tmp_path: Path) -> None:
    """Then the tail says so, and tries again."""
    async with open_shop(tmp_path / "one") as shop:
        port = shop.client.base_url.port
        async with _tail("--format", "json", f"http://127.0.0.1:{port}") as process:
            following = (await process.stderr.readline()).decode()
            await shop.stream("red mug")
            line = json.loads(await process.stdout.readline())
            shop.drain(0.0)
            lost = (await process.stderr.readline()).decode()
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0
    assert line["source"] == "short_query_bypass"
    assert f"http://127.0.0.1:{port}: the server has ended the stream; trying again in 0.5 s" in lost
    assert f"following http://127.0.0.1:{port}" in following


async def test_a_reader_that_has_enough_ends_the_tail_quietly(tmp_path: Path) -> None:
    """`aisle tail FILE | head -1`: no traceback."""
    log = tmp_path / "server.log"
    log.write_bytes(_log({}) * 20_000)
    async with _tail(str(log)) as process:
        await process.stdout.readline()
        process.stdout._transport.close()
        assert await process.wait() == 0
        assert await process.stderr.read() == b""
