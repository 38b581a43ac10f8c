"""A real server process, told to stop while a stream is open."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import httpx
import pytest

from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Gate, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text
from tests.support.server_process import server_process
from tests.support.shop import AGENTIC

pytestmark = pytest.mark.anyio

WINTER = "something warm for a winter camping trip"


async def test_an_open_stream_ends_properly_on_sigterm_and_the_process_leaves(tmp_path: Path) -> None:
    """A stream that is open at SIGTERM gets its end event. Source: design, runtime."""
    never = Gate("never")
    async with ScriptedGemini(gated_text(["{", "}"], [Gate("closed"), never])) as gemini:
        settings = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "test-key",
            "shutdown_grace_seconds": "1",
            "model_first_chunk_seconds": "60",
            "model_total_seconds": "60",
        }
        async with (
            asyncio.timeout(90),
            server_process(tmp_path, **settings) as server,
            httpx.AsyncClient(base_url=server.url, timeout=30) as client,
        ):
            async with client.stream("GET", AGENTIC, params={"q": WINTER}) as response:
                seen: list[Frame] = []
                async for frame in frames(response):
                    seen.append(frame)
                    if "hits" in frame.data:
                        server.process.send_signal(signal.SIGTERM)
            assert seen[-1].name == "stream-end"
            assert any(frame.data.get("error", {}).get("code") == "shutting_down" for frame in seen)
            await server.process.wait()
            completed = [
                json.loads(line) for line in server.log_lines() if "agentic_search_completed" in line
            ]
    assert [line["outcome"] for line in completed] == ["canceled"]


async def test_a_restart_serves_the_same_catalog_without_loading_it_again(tmp_path: Path) -> None:
    """What was indexed is there after a restart."""
    body = {"q": "tent", "limit": 5}
    answers = []
    for command in ("demo", "demo"):
        async with (
            asyncio.timeout(90),
            server_process(tmp_path, command) as server,
            httpx.AsyncClient(base_url=server.url, timeout=30) as client,
        ):
            answer = (await client.post("/api/v1/indexes/demo/search", json=body)).json()
            answers.append([hit["_id"] for hit in answer["hits"]])
            server.process.send_signal(signal.SIGTERM)
            await server.process.wait()
    assert answers[0] == answers[1] != []
