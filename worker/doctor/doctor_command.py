"""`aisle doctor`: asks the server to examine itself, or examines the data folder where none answers."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
import textwrap
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson

from search_proxy.caller import Caller
from worker.doctor.all_looks import diagnosis
from worker.doctor.examination import Examined
from worker.doctor.findings import EXIT_STATUS, Finding, exit_status
from worker.doctor.look_at_server import disk_finding
from worker.services import Services
from worker.settings import Settings

_MARKS = {"ok": "ok  ", "note": "    ", "warn": "WARN", "fail": "FAIL"}
_COLORS = {"ok": "32", "note": "0", "warn": "33", "fail": "31"}

OpenedServices = Callable[[Callable[[Services], Awaitable[list[Finding]]]], Awaitable[list[Finding]]]


def register(commands: Any) -> argparse.ArgumentParser:
    """Add the command; the caller sets how it starts."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="examine a server and its parts, and say what to do",
        epilog="Exit status: 0 all well, 1 warnings, 2 something does not work, 3 bad options.",
    )
    parser.add_argument("--url", help="the server (default: that of these settings); AISLE_KEY is its key")
    parser.add_argument("--account", default="demo", help="whom to examine for where no server answers")
    parser.add_argument("--index", help="the index to examine")
    parser.add_argument("--query", help="explain what would happen to this query (needs --index)")
    parser.add_argument("--session", help="the session that would ask it")
    parser.add_argument("--conversation", help="say what became of this conversation")
    parser.add_argument("--ask-model", action="store_true", help="make one call of one token")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser


def run_doctor(
    args: argparse.Namespace, settings: Settings, with_services: OpenedServices, *, plain: bool
) -> int:
    """Examine and print; the worst finding is the exit status."""
    if args.query is not None and args.index is None:
        sys.stderr.write("aisle doctor: --query needs the --index that it would be asked in\n")
        return 3
    findings = asyncio.run(_findings(args, settings, with_services))
    if args.json:
        sys.stdout.write(orjson.dumps([each.to_json() for each in findings]).decode() + "\n")
    else:
        sys.stdout.write(findings_text(findings, colored=sys.stdout.isatty() and not plain))
    return exit_status(findings)


async def _findings(
    args: argparse.Namespace, settings: Settings, with_services: OpenedServices
) -> list[Finding]:
    url = (args.url or f"http://{settings.host}:{settings.port}").rstrip("/")
    # With its HTTP client it is loaded by those alone who examine: `aisle serve` is the same command.
    server = importlib.import_module("worker.doctor.server_findings")
    answered: list[Finding]
    answered, reached = await server.findings_of_server(args, settings, url)
    if reached or args.url:
        return answered
    local = [disk_finding(settings.data_dir)] if settings.data_dir.is_dir() else []

    async def look(services: Services) -> list[Finding]:
        caller = Caller(account_id=args.account, key_kind="secret")
        return await diagnosis(
            Examined(
                services=services,
                caller=caller,
                index=args.index,
                query=args.query,
                session=args.session,
                conversation=args.conversation,
                asks_model=args.ask_model,
                is_operator=True,
            )
        )

    try:
        return [*answered, *await with_services(look)]
    except Exception as error:  # noqa: BLE001 - whatever keeps the parts from opening is the very finding
        return [
            *answered,
            *local,
            Finding(
                part="start",
                level="fail",
                looked_at=f"whether a server could start on {settings.data_dir}",
                found=f"{type(error).__name__}: {error}",
                advice="the message says what to do",
            ),
        ]


def findings_text(findings: Sequence[Finding], *, colored: bool) -> str:
    """Return the rows for a person: part and mark, what was found, then what to do."""
    lines = []
    for each in findings:
        mark = _MARKS[each.level]
        painted = f"\x1b[{_COLORS[each.level]}m{mark}\x1b[0m" if colored else mark
        lines.append(f"{painted}  {each.part:<18}{_safe(each.found)}")
        if each.level != "ok":
            lines.append(f"{'':<24}looked at {_safe(each.looked_at)}")
        if each.advice:
            wrapped = textwrap.wrap(_safe(each.advice), 96, break_long_words=False)
            lines += [f"{'':<22}{'> ' if number == 0 else '  '}{line}" for number, line in enumerate(wrapped)]
    worst = max((EXIT_STATUS[each.level] for each in findings), default=0)
    verdict = ("all is well", "there are warnings", "something does not work")[worst]
    return "\n".join([*lines, "", verdict, ""])


def _safe(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
