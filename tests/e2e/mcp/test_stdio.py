"""`aisle mcp` as an agent starts it: a process that speaks the protocol on stdin and stdout alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from search_proxy.backends.embedded import open_embedded
from tests.search_proxy.tools.corpora import mails

pytestmark = pytest.mark.anyio


async def test_an_agent_that_starts_the_server_finds_the_mail(tmp_path: Path) -> None:
    """Without any key: who can start the process can read its data folder. Its log is on standard error."""
    async with open_embedded(tmp_path) as engine:
        await engine.add_documents("acme", "mail", mails())
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))}
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "worker.cli", "--data-dir", str(tmp_path), "mcp", "--index", "mail", "--account", "acme"],
        env=clean,
    )
    log = tmp_path / "stderr"
    with log.open("w") as errors:
        await _ask(command, errors)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (line,) = [line for line in lines if line["event"] == "tool_called"]
    assert (line["face"], line["tool"], line["account"], line["outcome"]) == (
        "mcp",
        "keyword_search",
        "acme",
        "ok",
    )


async def _ask(command: StdioServerParameters, errors: TextIO) -> None:
    async with Client(stdio_client(command, errlog=errors)) as connected:
        names = [tool.name for tool in (await connected.list_tools()).tools]
        assert "keyword_search" in names
        result = await connected.call_tool("keyword_search", {"query": "revenue model draft", "limit": 1})
        assert result.structured_content is not None
        assert result.structured_content["hits"][0]["id"] == "mail-07"


async def test_an_index_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    """A server without any tool would look well to the agent."""
    async with open_embedded(tmp_path) as engine:
        await engine.add_documents("acme", "mail", mails())
    command = [sys.executable, "-m", "worker.cli", "--data-dir", str(tmp_path), "mcp", "--account", "acme"]
    ended = await anyio.run_process(
        [*command, "--index", "mial"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.decode() == "aisle mcp: account 'acme' has no index 'mial'; there is 'mail'\n"
