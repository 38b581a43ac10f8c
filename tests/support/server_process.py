"""A real `aisle` process on the loopback, found by the address that it prints."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server: its address and its process."""

    url: str
    process: Process
    log: Path

    def log_lines(self) -> list[str]:
        """Return what it has logged so far."""
        return self.log.read_text().splitlines()


@asynccontextmanager
async def server_process(
    folder: Path, command: str = "demo", **settings: str
) -> AsyncIterator[ServerProcess]:
    """Run `aisle COMMAND` with `AISLE_*` settings; killed on leaving if it still runs."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AISLE_", "GOOGLE_", "GEMINI_"))
    }
    environment = clean | {f"AISLE_{name.upper()}": value for name, value in settings.items()}
    environment |= {"AISLE_DATA_DIR": str(folder / "data")}
    log = folder / "server.log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "worker.cli",
            command,
            "--port",
            settings.get("port", "0"),
            env=environment,
            stdout=PIPE,
            stderr=stderr,
        )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            line = (await process.stdout.readline()).decode()
        if not line.startswith("aisle is at "):
            raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
        yield ServerProcess(line.split()[-1].rstrip("/"), process, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
