"""Runs a server as several worker processes behind one socket, and keeps them running.

A worker that dies is started again; SIGTERM drains them all within the grace; SIGHUP replaces them one after
the other, so that changed settings come into use without a request lost. What they share lies in a folder of
their own (docs/ops.md, several workers).
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from worker.observe.worker_place import WorkerPlace
from worker.settings import Settings, SettingsError

logger = logging.getLogger(__name__)

READY_LINE = "aisle is at "
"""What a server writes to standard output when it takes requests."""

_START_SECONDS = 120.0
_EXTRA_SECONDS = 5.0
"""What a worker may take to leave beyond the grace, before it is killed."""
_LONGEST_PAUSE_SECONDS = 30.0


class WorkerDidNotStart(Exception):
    """A worker ended, or said nothing, before it took requests; its log says why."""


class _Slot:
    """One place for a worker, and who is in it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: Process | None = None
        self.ready = asyncio.Event()
        self.renew = asyncio.Event()
        self.was_ready = False
        self.is_starting = False

    def send(self, sent: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(sent)


class Supervisor:
    """The workers of one server; `run` returns when all of them have left."""

    def __init__(
        self, settings: Settings, listener: socket.socket, folder: Path, environ: Mapping[str, str]
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._folder = folder
        self._environ = environ
        # The workers hold the reading end: it ends with this process, however that ends.
        self._life_fd, self._own_life_fd = os.pipe()
        self._slots = [_Slot(number) for number in range(settings.workers)]
        self._stopping = asyncio.Event()
        self._renewing = asyncio.Event()

    async def run(self) -> None:
        """Start the workers, say where they are, and keep them until told to stop.

        Raises:
            WorkerDidNotStart: One of the first ones did not.
        """
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._renewing.set)
        try:
            async with asyncio.TaskGroup() as group:
                keepers = [group.create_task(self._keep(slot), name="keep") for slot in self._slots]
                others = [
                    group.create_task(work, name="watch") for work in (self._say_where(), self._renew())
                ]
                await asyncio.wait(keepers)
                for task in others:
                    task.cancel()
        except* WorkerDidNotStart as failures:
            raise WorkerDidNotStart(str(failures.exceptions[0])) from failures
        finally:
            for slot in self._slots:
                slot.send(signal.SIGKILL)
            os.close(self._own_life_fd)
            os.close(self._life_fd)

    def stop(self) -> None:
        """Let every worker drain and leave; asked a second time, leave at once."""
        if self._stopping.is_set():
            for slot in self._slots:
                slot.send(signal.SIGINT)
        self._stopping.set()
        for slot in self._slots:
            if slot.is_starting:
                slot.send(signal.SIGTERM)

    async def _keep(self, slot: _Slot) -> None:
        """Keep a worker in the slot until the server stops."""
        pause = 0.5
        while not self._stopping.is_set():
            try:
                process = await self._start(slot)
            except WorkerDidNotStart:
                if self._stopping.is_set():
                    return
                if not slot.was_ready:
                    raise
                logger.exception("worker_did_not_start", extra={"slot": slot.number})
            else:
                await self._until_ended(slot, process)
                if slot.renew.is_set():
                    slot.renew.clear()
                    pause = 0.5
                    continue
                if not self._stopping.is_set():
                    facts = {"slot": slot.number, "status": process.returncode, "pause_seconds": pause}
                    logger.error("worker_died", extra=facts)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def _start(self, slot: _Slot) -> Process:
        place = WorkerPlace(
            slot=slot.number,
            workers=self._settings.workers,
            folder=self._folder,
            listen_fd=self._listener.fileno(),
            life_fd=self._life_fd,
        )
        process = slot.process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "worker.cli", "serve", "--as-worker", place.as_text()),
            env=self._environ,
            stdout=PIPE,
            pass_fds=(self._listener.fileno(), self._life_fd),
        )
        slot.is_starting = True
        if self._stopping.is_set():
            slot.send(signal.SIGTERM)
        assert process.stdout is not None
        line = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                line = await process.stdout.readline()
        slot.is_starting = False
        if not line.startswith(READY_LINE.encode()):
            slot.send(signal.SIGKILL)
            await process.wait()
            raise WorkerDidNotStart(f"worker {slot.number} did not start; its log says why")
        slot.was_ready = True
        slot.ready.set()
        return process

    async def _until_ended(self, slot: _Slot, process: Process) -> None:
        """Return when the worker has left: by itself, or told to by a signal, within the grace."""
        async with asyncio.TaskGroup() as group:
            ended = group.create_task(process.wait(), name="ended")
            told = [group.create_task(event.wait(), name="told") for event in (slot.renew, self._stopping)]
            await asyncio.wait({ended, *told}, return_when=asyncio.FIRST_COMPLETED)
            for task in told:
                task.cancel()
            if not ended.done():
                slot.send(signal.SIGTERM)
                grace = self._settings.shutdown_grace_seconds + _EXTRA_SECONDS
                _, late = await asyncio.wait({ended}, timeout=grace)
                if late:
                    logger.error("worker_killed", extra={"slot": slot.number})
                    slot.send(signal.SIGKILL)

    async def _renew(self) -> None:
        """Replace the workers one by one, each time that is asked for."""
        while True:
            await self._renewing.wait()
            self._renewing.clear()
            try:
                Settings.from_env(self._environ)
            except SettingsError as error:
                # Workers that could not start with them would leave their places empty.
                logger.error("settings_not_reloaded", extra={"error": str(error)})
                continue
            for slot in self._slots:
                slot.ready.clear()
                slot.renew.set()
                await slot.ready.wait()
            logger.warning("workers_renewed", extra={"workers": len(self._slots)})

    async def _say_where(self) -> None:
        for slot in self._slots:
            await slot.ready.wait()
        host, port = self._listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        sys.stdout.write(f"{READY_LINE}http://{shown}:{port}/\n")
        sys.stdout.flush()


def serve_with_workers(settings: Settings, environ: Mapping[str, str]) -> int:
    """Serve with `settings.workers` processes until told to stop; return the exit status."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="workers-", dir=settings.data_dir.resolve()))
    try:
        with _listening(settings) as listener:
            asyncio.run(_supervise(settings, listener, folder, environ))
    except (OSError, WorkerDidNotStart) as error:
        sys.stderr.write(f"aisle: {error}\n")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


async def _supervise(
    settings: Settings, listener: socket.socket, folder: Path, environ: Mapping[str, str]
) -> None:
    own = {"DATA_DIR": str(settings.data_dir), "DEMO": str(settings.demo), "WORKERS": str(settings.workers)}
    # After each connection it takes, a worker steps back for a moment, so that they share the load evenly.
    environ = {**environ, "UV_TCP_SINGLE_ACCEPT": "1"}
    child = {**environ, **{f"AISLE_{name}": value for name, value in own.items()}}
    await Supervisor(settings, listener, folder, child).run()


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener
