"""A real Redis server on a port of its own, for as long as a test wants it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import redis


@dataclass(slots=True)
class RedisProcess:
    """The server and where it listens."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the server at once."""
        self.process.kill()
        self.process.wait(timeout=5)


@contextmanager
def redis_process(*options: str, port: int | None = None) -> Iterator[RedisProcess]:
    """Run a Redis server that keeps nothing on disk; skip the test where the program is missing."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = port or _free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_until_it_answers(port, process)
            yield RedisProcess(url=f"redis://127.0.0.1:{port}/0", process=process)
        finally:
            process.kill()
            process.wait(timeout=5)


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes]) -> None:
    # The client's own reconnecting waits for the server: 100 tries of at most 0.1 s.
    from_here = redis.Redis(
        port=port,
        socket_timeout=2,
        retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 100),
    )
    with from_here as client:
        client.ping()
    assert process.poll() is None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
