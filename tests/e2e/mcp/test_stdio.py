"""`aisle mcp` as an agent starts it: a process that speaks the protocol on stdin and stdout alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from search_proxy.backends.embedded import open_embedded
from tests.search_proxy.tools.corpora import mails

pytestmark = pytest.mark.anyio


async def test_an_agent_that_starts_the_server_finds_the_mail(tmp_path: Path) -> None:
    """Without any key: who can start the process can read its data folder."""
    async with open_embedded(tmp_path) as engine:
        await engine.add_documents("acme", "mail", mails())
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))}
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "worker.cli", "--data-dir", str(tmp_path), "mcp", "--index", "mail", "--account", "acme"],
        env=clean,
    )
    async with Client(command) as connected:
        names = [tool.name for tool in (await connected.list_tools()).tools]
        assert "keyword_search" in names
        result = await connected.call_tool("keyword_search", {"query": "revenue model draft", "limit": 1})
        assert result.structured_content is not None
        assert result.structured_content["hits"][0]["id"] == "mail-07"
