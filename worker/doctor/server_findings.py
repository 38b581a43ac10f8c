"""Asks a running server to examine itself, and says what is the matter where it does not answer."""

from __future__ import annotations

import argparse
import time
from typing import Any

import httpx

from worker.doctor.findings import Finding
from worker.settings import Settings
from worker.tool_parts import product_version

_ASK_SECONDS = 60.0
_ALIVE_SECONDS = 3.0
"""For the one question that asks for nothing; an examination with a model call takes longer."""
_CLOCK_SECONDS = 5.0


async def findings_of_server(
    args: argparse.Namespace, settings: Settings, url: str
) -> tuple[list[Finding], bool]:
    """Return what the server at `url` says of itself, or what is wrong with it, and whether there is one."""
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
