"""`aisle doctor` as an operator runs it: a process of its own, with and without a server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.support.shop import Shop, open_shop

pytestmark = pytest.mark.anyio


async def _doctor(*arguments: str, data: Path, **settings: str) -> tuple[int, str, str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))
    }
    environment |= {f"AISLE_{name.upper()}": value for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "worker.cli", "doctor", *arguments,
        env=environment | {"AISLE_DATA_DIR": str(data)}, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def _url(shop: Shop) -> str:
    return str(shop.client.base_url)


async def test_a_server_is_examined_and_the_worst_row_is_the_exit_status(tmp_path: Path) -> None:
    """Warnings for the missing model; a failure where a feature is off; no key in any byte."""
    async with open_shop(tmp_path / "shop") as shop:
        key = await shop.services.office.keys.create("demo", "secret", {}, actor="test")
        warned = await _doctor("--url", _url(shop), "--index", "demo", data=tmp_path, key=key.token)
        off = {"feature_flags": {"agentic_search": False}}
        await shop.services.office.administration.set_settings("demo", "demo", off, actor="test")
        failed = await _doctor("--url", _url(shop), "--index", "demo", data=tmp_path, key=key.token)
    assert warned[0] == 1
    assert "WARN  model" in warned[1]
    assert "there are warnings" in warned[1]
    assert failed[0] == 2
    assert "FAIL  agentic search" in failed[1]
    assert key.token not in "".join(map(str, (*warned, *failed)))
    assert "\x1b" not in warned[1]


async def test_a_refused_key_is_said_to_be_one(tmp_path: Path) -> None:
    """401, and how to make a key."""
    async with open_shop(tmp_path / "shop") as shop:
        status, out, _ = await _doctor("--url", _url(shop), data=tmp_path, key="sk_0123456789ab_wrong")
    assert status == 2
    assert "FAIL  connection        401" in out
    assert "aisle account key create NAME --kind secret" in out


async def test_a_server_that_takes_the_connection_and_says_nothing_is_stuck(tmp_path: Path) -> None:
    """A stopped process, for which the kernel still accepts: said within seconds."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        status, out, _ = await _doctor("--url", url, data=tmp_path)
    assert status == 2
    assert "FAIL  connection        the connection is taken, and nothing is answered for 3 s" in out
    assert "stopped or stuck" in out


async def test_without_a_server_the_data_folder_is_examined(tmp_path: Path) -> None:
    """Says that none answers, then goes on; as JSON too."""
    async with open_shop(tmp_path):
        pass
    status, out, err = await _doctor("--index", "demo", "--json", data=tmp_path, port="1")
    found = {each["part"]: each for each in json.loads(out)}
    assert (status, err) == (2, "")
    assert found["connection"]["found"].startswith("no server answers")
    assert found["index"]["found"].startswith("120 documents")


async def test_a_query_is_explained_stage_by_stage(tmp_path: Path) -> None:
    """Reading, session, cache, plan: what would happen to that very request."""
    async with open_shop(tmp_path / "shop") as shop:
        asked = ["--index", "demo", "--query", "warm tents for a winter trip", "--session", "s1"]
        _, out, _ = await _doctor("--url", _url(shop), *asked, data=tmp_path)
    for part in ("query: reading", "query: session", "query: cache", "query: plan"):
        assert part in out
    assert "the rules: no model is set up" in out


@pytest.mark.parametrize(
    ("arguments", "settings", "status", "message"),
    [
        (["--query", "tents"], {}, 3, "--query needs the --index"),
        (["--url", "http://127.0.0.1:1"], {}, 2, "no server answers"),
        (["--url", "nonsense"], {}, 2, "no server answers"),
        ([], {"port": "0x"}, 2, "AISLE_PORT"),
    ],
)
async def test_what_cannot_be_examined_is_said(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], status: int, message: str
) -> None:
    """3 for options, 2 for what does not work; never a traceback."""
    got, out, err = await _doctor(*arguments, data=tmp_path, **settings)
    assert got == status
    assert message in out + err
    assert "Traceback" not in out + err


async def test_a_data_folder_that_cannot_be_opened_is_a_finding(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "data").write_text("not a folder")
    status, out, _ = await _doctor(data=tmp_path / "data", port="1")
    assert status == 2
    assert "FAIL  start" in out
