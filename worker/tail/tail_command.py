"""`aisle tail`: follow servers, a log file, or standard input."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from worker.settings import Settings
from worker.tail.log_files import read_file, read_input
from worker.tail.log_lines import LineReader
from worker.tail.pretty import Pretty
from worker.tail.tail_filter import SOURCES, STATUSES, TailFilter, TailRefused, read_tail_filter
from worker.tail.tail_summary import TailSummary

_OPTIONS = (
    ("status", f"outcome: {', '.join(STATUSES)}; repeatable"),
    ("source", f"where the answer came from: {', '.join(SOURCES)}; repeatable"),
    ("account", "account; repeatable"),
    ("index", "index; repeatable"),
    ("slower-than", "only requests that took more than so many ms"),
    ("search", "only lines that contain this text"),
    ("prompt-version", "prompt version; repeatable"),
    ("sampling-rate", "share of the requests to show, above 0 and at most 1"),
)


def register(commands: Any) -> argparse.ArgumentParser:
    """Add `aisle tail`; the caller sets how it starts."""
    parser: argparse.ArgumentParser = commands.add_parser("tail", help="follow finished requests as they end")
    parser.add_argument(
        "where",
        nargs="*",
        metavar="URL|FILE|-",
        help="servers to follow, log files, or - for standard input (default: the server of these settings)",
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on when a file has ended")
    parser.add_argument("--format", choices=("pretty", "json"), default="pretty")
    for name, text in _OPTIONS:
        parser.add_argument(f"--{name}", action="append", default=[], metavar=name.upper(), help=text)
    parser.add_argument("--filter-dropped", action="store_true", help="only where a filter was given up")
    return parser


def run_tail(args: argparse.Namespace, settings: Settings, *, plain: bool) -> int:
    """Follow until the end, or until interrupted.

    Returns:
        0; 1 where something could not be followed; 2 for an option that cannot be read.
    """
    try:
        wanted = read_tail_filter(_pairs(args))
    except TailRefused as error:
        sys.stderr.write(f"aisle tail: --{error}\n")
        return 2
    where = args.where or [f"http://{settings.host}:{settings.port}"]
    colored = sys.stdout.isatty() and not plain
    out = None if args.format == "json" else Pretty(width=shutil.get_terminal_size().columns, colored=colored)
    tail = _Tail(wanted=wanted, settings=settings, follow=args.follow, drawing=out)
    asyncio.run(tail.run(where))
    if out is not None:
        tail.write(tail.summary.text())
    if tail.reader_left:
        # The interpreter must not flush into the closed pipe once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if tail.failed else 0


@dataclass(kw_only=True)
class _Tail:
    wanted: TailFilter
    settings: Settings
    follow: bool
    drawing: Pretty | None
    summary: TailSummary = field(default_factory=TailSummary)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    failed: bool = False
    reader_left: bool = False

    async def run(self, where: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, self.stop.set)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read(place), name=f"tail:{place}") for place in where]
            stopping = group.create_task(self.stop.wait(), name="tail-stop")
            reading = group.create_task(_all(tasks), name="tail-read")
            await asyncio.wait({stopping, reading}, return_when=asyncio.FIRST_COMPLETED)
            for task in (stopping, reading, *tasks):
                task.cancel()

    def write(self, text: str) -> None:
        """Write to standard output; where nobody reads it any more, that is the end."""
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            self.reader_left = True
            self.stop.set()

    async def _read(self, place: str) -> None:
        try:
            if place.startswith(("http://", "https://")):
                await self._read_server(place)
            else:
                await self._read_log(place)
        except OSError as error:
            self._give_up(f"{place!r} cannot be read: {error.strerror or error}")

    def _give_up(self, why: str) -> None:
        sys.stderr.write(f"aisle tail: {why}\n")
        self.failed = True

    async def _read_server(self, url: str) -> None:
        key = self.settings.key.get_secret_value() if self.settings.key else None

        def take(name: str, data: dict[str, Any]) -> None:
            if name == "sampled":
                self.summary.skipped += data["skipped"]
                sys.stderr.write(f"aisle tail: {data['skipped']:,} requests were left out under load\n")
            else:
                self._show(data)

        # With its HTTP client it is loaded by who follows a server alone: `aisle serve` is the same command.
        live = importlib.import_module("worker.tail.live_lines")
        try:
            await live.follow_server(url, key, self.wanted, take)
        except live.ServerRefused as error:
            self._give_up(str(error))

    async def _read_log(self, place: str) -> None:
        reader = LineReader(self.wanted)

        def take(raw: bytes) -> None:
            line = reader.read(raw)
            if line is not None:
                self._show(line)

        try:
            if place == "-":
                await read_input(take)
            else:
                await read_file(Path(place), take, follow=self.follow)
        finally:
            self.summary.broken += reader.broken

    def _show(self, line: Mapping[str, Any]) -> None:
        self.summary.add(line)
        self.write(self.drawing.request(line) if self.drawing else orjson.dumps(line).decode() + "\n")


async def _all(tasks: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


def _pairs(args: argparse.Namespace) -> list[tuple[str, str]]:
    pairs = [(name, value) for name, _ in _OPTIONS for value in getattr(args, name.replace("-", "_"))]
    return [*pairs, ("filter-dropped", "true")] if args.filter_dropped else pairs
