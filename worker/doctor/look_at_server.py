"""The process itself: going down, its log, its disk, its settings' freshness, who listens."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from worker.doctor.examination import Examined
from worker.doctor.findings import Finding
from worker.observe.line_writer import process_log

_STALE_SETTINGS_SECONDS = 15.0
_LITTLE_DISK_BYTES = 1024**3
_LITTLE_DISK_SHARE = 0.05


async def look_at_server(examined: Examined) -> Sequence[Finding]:
    """Return what the process says of itself."""
    services = examined.services
    disk = disk_finding(services.settings.data_dir)
    if not examined.is_operator:
        # Where the folder is and how full the machine is, is the business of who runs it.
        full = disk.level == "fail"
        found = "it cannot be written to" if full else "it can be written to"
        disk = replace(
            disk, looked_at="the server's data folder", found=found, advice="tell who runs the server" * full
        )
    findings = [_state(examined), disk]
    log = process_log()
    if log is not None:
        failing = log.error is not None
        findings.append(
            Finding(
                part="log",
                level="fail" if failing or log.lost else "ok",
                looked_at="whether log lines are written",
                found=f"{log.lost} lines lost; {log.error}" if failing or log.lost else "all of them are",
                advice="make room where standard error goes" if failing or log.lost else "",
            )
        )
    failures = services.observers.failures
    if failures:
        findings.append(
            Finding(
                part="observers",
                level="warn",
                looked_at="who hears of finished requests",
                found=", ".join(f"{name} failed {count} times" for name, count in failures.items()),
                advice="see observer_failed in the log",
            )
        )
    return findings


def _state(examined: Examined) -> Finding:
    services = examined.services
    draining = services.runs.draining
    workers, active = services.peers.place.workers, services.runs.active
    return Finding(
        part="server",
        level="warn" if draining else "ok",
        looked_at="whether the server takes requests",
        found=f"it is going down, {active} runs are left"
        if draining
        else f"it does, in {workers} process{'es' if workers > 1 else ''}; {active} runs at work",
        advice="wait for its successor" if draining else "",
    )


async def look_at_settings(examined: Examined) -> Sequence[Finding]:
    """Return whether changes of accounts and settings arrive here."""
    age = examined.services.office.sync.age_seconds
    stale = age > _STALE_SETTINGS_SECONDS
    return [
        Finding(
            part="settings sync",
            level="fail" if stale else "ok",
            looked_at="when the store of accounts and settings last answered",
            found=f"{age:.0f} s ago; what has changed since is not in use here"
            if stale
            else f"{age:.1f} s ago",
            advice="make the account store reachable (settings_sync_failed in the log); serving goes on"
            if stale
            else "",
        )
    ]


def disk_finding(folder: Path) -> Finding:
    """Return whether the data folder can be written to, and how much room there is."""
    looked_at = f"the data folder {folder}"
    probe = folder / f".doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
        usage = shutil.disk_usage(folder)
    except OSError as error:
        return Finding(
            part="disk",
            level="fail",
            looked_at=looked_at,
            found=f"it cannot be written to: {error.strerror or error}",
            advice="make room or repair its rights; answers go on, nothing new is kept",
        )
    little = usage.free < _LITTLE_DISK_BYTES or usage.free < usage.total * _LITTLE_DISK_SHARE
    return Finding(
        part="disk",
        level="warn" if little else "ok",
        looked_at=looked_at,
        found=f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f}",
        advice="make room before it is full" if little else "",
    )
