"""`aisle doctor`: asks the server to examine itself, or examines the data folder where none answers."""

from __future__ import annotations

import argparse
import asyncio
import sys
import textwrap
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import orjson

from search_proxy.caller import Caller
from worker.doctor.all_looks import diagnosis
from worker.doctor.examination import Examined
from worker.doctor.findings import EXIT_STATUS, Finding, exit_status
from worker.doctor.look_at_server import disk_finding
from worker.services import Services
from worker.settings import Settings
from worker.tool_parts import product_version

_ASK_SECONDS = 60.0
_ALIVE_SECONDS = 3.0
"""For the one question that asks for nothing; an examination with a model call takes longer."""
_CLOCK_SECONDS = 5.0
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
    answered, reached = await _from_server(args, settings, url)
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


async def _from_server(args: argparse.Namespace, settings: Settings, url: str) -> tuple[list[Finding], bool]:
    headers = {} if settings.key is None else {"authorization": f"Bearer {settings.key.get_secret_value()}"}
    asked = {
        "index": args.index,
        "q": args.query,
        "session": args.session,
        "conversation": args.conversation,
        "model": "true" if args.ask_model else None,
    }
    parameters = {name: value for name, value in asked.items() if value is not None}
    began = time.time()
    try:
        async with httpx.AsyncClient(timeout=httpx.Timeout(_ASK_SECONDS, connect=3.0)) as client:
            if not await _is_alive(client, url):
                return [_stuck(url)], False
            answer = await client.get(f"{url}/api/v1/diagnosis", params=parameters, headers=headers)
    except httpx.HTTPError as error:
        return [_unreached(url, str(error) or type(error).__name__)], False
    except (httpx.InvalidURL, ValueError) as error:
        return [_unreached(url, f"this is no URL: {error}")], True
    if answer.status_code != 200:
        return [_refused(url, answer)], True
    try:
        said = answer.json()
        findings = [Finding.from_json(each) for each in said["findings"]]
        clock = _clock(began, float(said["time"]))
        return [_reached(url, said), clock, *findings], True
    except (ValueError, KeyError, TypeError):
        return [_unreached(url, "what answers there is no aisle server")], True


async def _is_alive(client: httpx.AsyncClient, url: str) -> bool:
    try:
        await client.get(f"{url}/livez", timeout=httpx.Timeout(_ALIVE_SECONDS))
    except httpx.ReadTimeout:
        return False
    return True


def _stuck(url: str) -> Finding:
    return Finding(
        part="connection",
        level="fail",
        looked_at=f"{url}/livez",
        found=f"the connection is taken, and nothing is answered for {_ALIVE_SECONDS:g} s",
        advice="the process is stopped or stuck: look at its state, its CPU and the end of its log, then "
        "restart it; the rest is of the data folder here",
    )


def _reached(url: str, said: dict[str, Any]) -> Finding:
    ours, theirs = product_version(), str(said["version"])
    return Finding(
        part="connection",
        level="ok" if ours == theirs else "note",
        looked_at=f"{url} with this key",
        found=f"version {theirs}, account {said['account']!r}"
        + ("" if ours == theirs else f"; this is {ours}"),
    )


def _unreached(url: str, why: str) -> Finding:
    return Finding(
        part="connection",
        level="fail",
        looked_at=url,
        found=f"no server answers: {why}",
        advice="start it (aisle serve), or say where it is with --url; the rest is of the data folder here",
    )


def _refused(url: str, answer: httpx.Response) -> Finding:
    try:
        message = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = "no reason given"
    advice = "the server's log says why (doctor_look_failed, request_failed)"
    if answer.status_code in {401, 403}:
        advice = "set AISLE_KEY to a secret key of the account: aisle account key create NAME --kind secret"
    elif answer.status_code == 404:
        advice = "what answers there is no aisle server, or one of an earlier version"
    return Finding(
        part="connection",
        level="fail",
        looked_at=f"{url} with {'this key' if answer.status_code != 404 else 'this path'}",
        found=f"{answer.status_code}: {message}",
        advice=advice,
    )


def _clock(asked_at: float, theirs: float) -> Finding:
    apart = abs(theirs - (asked_at + time.time()) / 2)
    wrong = apart > _CLOCK_SECONDS
    return Finding(
        part="clock",
        level="warn" if wrong else "ok",
        looked_at="the server's clock and ours",
        found=f"{apart:.1f} s apart",
        advice="set the clocks (NTP): keys, caches and conversations end by them" if wrong else "",
    )


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
