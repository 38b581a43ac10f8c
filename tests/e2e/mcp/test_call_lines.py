"""Every call of a tool, over either wire, leaves one line in the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import jsonschema
import pytest
from referencing import Registry, Resource

from search_proxy.grpc import search_pb2
from search_proxy.grpc.search_pb2_grpc import SearchServiceStub
from tests.e2e.mcp.test_http import client
from tests.search_proxy.tools.corpora import mails
from tests.support.tool_server import open_tool_server
from tests.worker.observe.log_lines import logged_lines

pytestmark = pytest.mark.anyio

_SCHEMA = json.loads((Path(__file__).parents[3] / "docs/log-schema.json").read_text())
_LINE = jsonschema.Draft202012Validator(
    {"$ref": f"{_SCHEMA['$id']}#/$defs/tool_called"},
    registry=Registry().with_resource(_SCHEMA["$id"], Resource.from_contents(_SCHEMA)),
)


def _calls(lines: Sequence[str]) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, lines) if line["event"] == "tool_called"]


async def test_each_call_is_one_line_of_the_schema_without_its_words(tmp_path: Path) -> None:
    """Answered, refused by the tool, and of a tool that is not there."""
    with logged_lines() as log:
        async with open_tool_server(tmp_path, {"mail": mails()}) as server:
            async with client(f"{server.mcp_url}/mail", server.acme.publishable) as agent:
                await agent.call_tool("keyword_search", {"query": "forecast"})
                await agent.call_tool("keyword_search", {"query": ["forecast"]})
                await agent.call_tool("forecast" * 40, {})
            async with grpc.aio.insecure_channel(server.grpc_address) as channel:
                stub = SearchServiceStub(channel)  # type: ignore[no-untyped-call]
                asked = search_pb2.GetDocumentRequest(document_id="mail-07")
                bearer = (("authorization", f"Bearer {server.acme.secret}"), ("x-index", "mail"))
                await stub.GetDocument(asked, metadata=bearer)
    lines = _calls(log.lines)
    for line in lines:
        _LINE.validate(line)
    assert [(one["face"], one["tool"], one["outcome"], one["failure"]) for one in lines] == [
        ("mcp", "keyword_search", "ok", None),
        ("mcp", "keyword_search", "error", "invalid"),
        ("mcp", ("forecast" * 40)[:100], "error", "not_found"),
        ("grpc", "get_document", "ok", None),
    ]
    assert {(one["account"], one["index"]) for one in lines} == {("acme", "mail")}
    assert "Sales projections" not in "".join(log.lines)
