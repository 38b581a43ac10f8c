"""Two server processes with one Redis: everybody who asks the same at once shares one plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.event_stream import Frame, frames
from tests.support.redis_server import RedisServer, redis_server
from tests.support.scripted_gemini import Call, Gate, Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.server_process import server_process
from tests.support.shop import AGENTIC

pytestmark = pytest.mark.anyio

QUERY = "something warm for cold nights outside"
CALLERS = 40
"""For each of the two processes."""

_PIECES = (
    '{"query_expansions": [["sleeping bag", "Sleeping Bags", 0.9]',
    ', ["winter boots", "Boots", 0.8]]}',
)


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """Run a Redis server for this test alone."""
    with redis_server() as server:
        yield server


async def test_equal_questions_in_two_processes_make_one_model_call_and_all_hear_it_live(
    tmp_path: Path, own_redis: RedisServer
) -> None:
    """Followers anywhere get the first category before the leader's second. Source: design, cache."""
    opened, rest = Gate(), Gate("rest")
    opened.open()
    plan = gated_text(_PIECES, [opened, rest])

    def choose(call: Call) -> Script:
        return plan if "responseMimeType" in call.body["generationConfig"] else json_text("Warm things.")

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(110))
        gemini = await stack.enter_async_context(ScriptedGemini())
        gemini.choose = choose
        settings: dict[str, Any] = {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "test-key",
            "redis_url": own_redis.url,
            "model_first_chunk_seconds": "30",
            "model_gap_seconds": "30",
            "model_total_seconds": "60",
        }
        clients, servers = [], []
        for number in range(2):
            folder = tmp_path / str(number)
            folder.mkdir()
            server = await stack.enter_async_context(server_process(folder, **settings))
            servers.append(server)
            client = httpx.AsyncClient(base_url=server.url, timeout=60)
            clients.append(await stack.enter_async_context(client))
        heard = 0

        async def ask(client: httpx.AsyncClient) -> list[Frame]:
            nonlocal heard
            seen: list[Frame] = []
            async with client.stream("GET", AGENTIC, params={"q": QUERY}) as response:
                async for frame in frames(response):
                    if "categoryHits" in frame.data and not _labels(seen):
                        heard += 1
                        if heard == 2 * CALLERS:
                            rest.open()
                    seen.append(frame)
            return seen

        async with asyncio.TaskGroup() as group:
            asking = [
                group.create_task(ask(client), name=f"ask:{number}")
                for number in range(CALLERS)
                for client in clients
            ]
        logs = [line for server in servers for line in server.log_lines()]
        plans = [call for call in gemini.calls if "responseMimeType" in call.body["generationConfig"]]
    answers = [task.result() for task in asking]
    assert len(plans) == 1, [line for line in logs if "cache_" in line]
    assert all(_labels(answer) == {"Sleeping Bags", "Boots"} for answer in answers)
    assert all(answer[-1].name == "stream-end" for answer in answers)
    sources = [answer[-2].data["receipt"]["source"] for answer in answers]
    assert sorted(sources) == ["cached"] * (2 * CALLERS - 1) + ["llm"]


def _labels(events: list[Frame]) -> set[str]:
    return {item["category"] for event in events for item in event.data.get("categoryHits", [])}
