"""Two servers that speak DynamoDB's protocol: moto from pip, and dynoxide, which is stricter, from npm."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from cache.dynamodb_calls import DynamoTarget
from tests.support.redis_server import START_SECONDS, await_port, free_port

DYNOXIDE = Path(__file__).parent / "dynoxide" / "node_modules" / "@dynoxide" / "linux-x64" / "dynoxide"


@contextmanager
def moto_server() -> Iterator[str]:
    """Run moto's server in a thread; yield its URL."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()


@contextmanager
def dynoxide_server() -> Iterator[str]:
    """Run dynoxide in memory; yield its URL. Skips where `npm ci` has not been run in its folder."""
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: npm ci --prefix tests/support/dynoxide")
    port = free_port()
    command = [str(DYNOXIDE), "serve", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(START_SECONDS)


SERVERS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "moto": moto_server,
    "dynoxide": dynoxide_server,
}


def target(endpoint_url: str, table_name: str, *, deadline_seconds: float = 20.0) -> DynamoTarget:
    """Return a target with credentials that mean nothing to anybody."""
    return DynamoTarget(
        table_name=table_name,
        endpoint_url=endpoint_url,
        access_key_id="test",
        secret_access_key="test",
        deadline_seconds=deadline_seconds,
    )
