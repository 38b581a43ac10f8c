"""`aisle answer show | pin | remove`: the command line over approved answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from worker.approved_answers import pin_answer, read_answer, remove_answer, show_answer
from worker.command_services import CommandServices
from worker.demo import DEMO_ACCOUNT
from worker.errors import WorkerError


def register(commands: Any) -> None:
    """Add `aisle answer`."""
    parser = commands.add_parser("answer", help="approve, show and remove stored answers")
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, work, text in (
        ("show", _show, "show the stored answer of a question"),
        ("pin", _pin, "approve an answer until it is removed; `-` reads standard input"),
        ("remove", _remove, "remove the stored answer of a question"),
    ):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("index")
        verb.add_argument("query")
        verb.add_argument("--account", default=DEMO_ACCOUNT)
        verb.set_defaults(run=_guarded(work))
    verbs.choices["pin"].add_argument("file", help="JSON: query_expansions, summary, query_complements")


def _guarded(work: Any) -> Any:
    async def run(args: argparse.Namespace, commanded: CommandServices) -> int:
        try:
            await work(args, commanded)
        except (WorkerError, OSError) as error:
            sys.stderr.write(f"aisle answer: {error}\n")
            return 1
        return 0

    return run


async def _show(args: argparse.Namespace, commanded: CommandServices) -> None:
    shown = await show_answer(commanded.services.cache, args.account, args.index, args.query)
    sys.stdout.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode() + "\n")


async def _pin(args: argparse.Namespace, commanded: CommandServices) -> None:
    answer = read_answer(_read(args.file))
    await pin_answer(commanded.services.cache, args.account, args.index, args.query, answer)
    sys.stdout.write(f"pinned for {args.query!r} in {args.index!r}\n")


async def _remove(args: argparse.Namespace, commanded: CommandServices) -> None:
    await remove_answer(commanded.services.cache, args.account, args.index, args.query)
    sys.stdout.write(f"removed for {args.query!r} in {args.index!r}\n")


def _read(name: str) -> bytes:
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
