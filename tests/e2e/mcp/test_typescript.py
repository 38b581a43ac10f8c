"""The official TypeScript clients, the current one and the one before, against the real server."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.search_proxy.tools.corpora import mails
from tests.support.tool_server import open_tool_server

pytestmark = pytest.mark.anyio

_FOLDER = Path(__file__).parent
CLIENTS = [("v1", "", "2025-11-25"), ("v2", "auto", "2026-07-28"), ("v2", "legacy", "2025-11-25")]


@pytest.fixture(scope="module")
def node() -> str:
    """Return the Node program, with the locked packages installed beside the script."""
    program = shutil.which("node")
    if program is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    if not (_FOLDER / "node_modules" / "@modelcontextprotocol" / "client").is_dir():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=_FOLDER, check=True, timeout=120)
    return program


async def run(node: str, **asked: Any) -> dict[str, Any]:
    """Return what the client printed."""
    with anyio.fail_after(30):
        command = [node, str(_FOLDER / "client.mjs"), json.dumps(asked)]
        finished = await anyio.run_process(command, check=False)
    assert finished.stdout, finished.stderr.decode()
    answer: dict[str, Any] = json.loads(finished.stdout)
    return answer


@pytest.mark.parametrize(("client", "mode", "version"), CLIENTS)
async def test_a_typescript_agent_finds_the_mail(
    tmp_path: Path, node: str, client: str, mode: str, version: str
) -> None:
    """The client itself holds every structured answer to the listed output schema."""
    sarah = {"author": ["sarah"], "tags": ["email"]}
    calls = [
        {"name": "filter_documents", "arguments": {"filter": sarah, "limit": 50}},
        {
            "name": "semantic_search",
            "arguments": {"query": "Q3 forecast", "filter": sarah, "limit": 5, "min_score": 0.7},
        },
        {"name": "get_document", "arguments": {"document_id": "mail-07"}},
        {"name": "get_document", "arguments": {"document_id": "mail-99"}},
    ]
    async with open_tool_server(tmp_path, {"mail": mails()}) as server:
        url = f"{server.mcp_url}/mail"
        answer = await run(node, client=client, mode=mode, url=url, key=server.acme.publishable, calls=calls)
    assert "error" not in answer, answer
    assert answer["version"] == version
    assert len(answer["tools"]) == 9
    scoped, close, mail, missing = answer["results"]
    assert len(scoped["structuredContent"]["hits"]) == 23
    assert {hit["id"] for hit in close["structuredContent"]["hits"]} == {"mail-07", "mail-11"}
    assert mail["structuredContent"]["body"].startswith("Sales projections")
    assert missing["isError"] is True
    assert "mail-99" in missing["content"][0]["text"]


async def test_a_client_without_a_key_is_told_so(tmp_path: Path, node: str) -> None:
    """The door answers 401 before the protocol begins."""
    async with open_tool_server(tmp_path, {"mail": mails()}) as server:
        answer = await run(node, client="v1", url=f"{server.mcp_url}/mail", calls=[])
    assert "401" in str(answer) or "key" in answer["error"]
