"""`aisle trace RUN_ID` and `aisle replay FILE`."""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import orjson

from search_proxy.errors import SearchError
from worker.command_services import CommandServices
from worker.settings import Settings
from worker.trace.replay import replay
from worker.trace.trace_files import TraceUnreadable, read_trace
from worker.trace.trace_text import trace_text
from worker.trace.traces import trace_files


def register(commands: Any) -> argparse.ArgumentParser:
    """Add both; returns `trace`, whose start the caller sets: it needs no services."""
    again = commands.add_parser("replay", help="run a kept trace again, without a model, and compare")
    again.add_argument(
        "file", type=Path, help="what `aisle trace RUN_ID --json` printed, or a file of traces/"
    )
    again.set_defaults(run=run_replay)
    parser: argparse.ArgumentParser = commands.add_parser("trace", help="show what one run did")
    parser.add_argument("run_id", metavar="RUN_ID", help="as in a receipt, a log line or an event id")
    parser.add_argument("--url", help="ask this server with AISLE_KEY (default: read the data folder)")
    parser.add_argument(
        "--json", action="store_true", help="print the whole trace, as `aisle replay` takes it"
    )
    return parser


def run_trace(args: argparse.Namespace, settings: Settings, *, plain: bool) -> int:
    """Print a trace; 1 when there is none."""
    try:
        trace = _read(args.url, args.run_id, settings)
    except (OSError, TraceUnreadable) as error:
        sys.stderr.write(f"aisle trace: {error}\n")
        return 1
    if trace is None:
        sys.stderr.write(
            f"aisle trace: there is no trace of run {args.run_id!r}; runs are traced where the account has"
            " set agentic_config.keep_traces\n"
        )
        return 1
    if args.json:
        sys.stdout.write(orjson.dumps(trace, option=orjson.OPT_INDENT_2).decode() + "\n")
        return 0
    colored = sys.stdout.isatty() and not plain
    sys.stdout.write(trace_text(trace, width=shutil.get_terminal_size().columns, colored=colored))
    return 0


async def run_replay(args: argparse.Namespace, commanded: CommandServices) -> int:
    """Replay and compare; 0 when equal, 1 when something differs, 2 when the file cannot be replayed."""
    try:
        trace = read_trace(args.file.read_bytes())
        result = await replay(commanded.services, trace)
    except OSError as error:
        sys.stderr.write(f"aisle replay: '{args.file}' cannot be read: {error.strerror or error}\n")
        return 2
    except (TraceUnreadable, SearchError) as error:
        sys.stderr.write(f"aisle replay: {error}\n")
        return 2
    for note in result.notes:
        sys.stdout.write(f"note: {note}\n")
    for difference in result.differences:
        sys.stdout.write(f"{difference}\n")
    verdict = f"{len(result.differences)} differences" if result.differences else "the same answer"
    sys.stdout.write(f"run {result.run_id}: {verdict}\n")
    return 1 if result.differences else 0


def _read(url: str | None, run_id: str, settings: Settings) -> dict[str, Any] | None:
    if not url:
        return trace_files(settings).read(run_id)
    # With its HTTP client it is loaded by those alone who ask a server: `aisle serve` is the same command.
    trace: dict[str, Any] = importlib.import_module("worker.trace.server_trace").ask_for_trace(
        url, run_id, settings.key
    )
    return trace
