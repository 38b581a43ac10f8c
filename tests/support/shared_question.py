"""One question from many callers at two server processes that share a Redis and a model."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.support.callers import hear
from tests.support.scripted_gemini import Call, Gate, Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text, json_text
from tests.support.server_process import ServerProcess, server_process

QUERY = "something warm for cold nights outside"
LABELS = ("Sleeping Bags", "Boots")
_PIECES = (
    '{"query_expansions": [["sleeping bag", "Sleeping Bags", 0.9]',
    ', ["winter boots", "Boots", 0.8]]}',
)
_PATIENT = {
    "model_first_chunk_seconds": "100",
    "model_gap_seconds": "100",
    "model_total_seconds": "100",
    "run_total_seconds": "100",
    "search_timeout_seconds": "60",
    "sse_send_timeout_seconds": "100",
}
"""A question here lasts as long as its last caller needs to hear of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer:
    """What came of it. `heard_live` callers had a category before the model wrote its last piece."""

    model_calls: int
    whole: int
    heard_live: int
    sources: Counter[str]
    log_lines: list[str]


async def ask_everywhere(folder: Path, redis_url: str, *, callers: int) -> SharedAnswer:
    """Ask `callers` times at once, half of them at each process.

    The model holds the rest of its plan back until every caller has heard the beginning.
    """
    opened, rest = Gate(), Gate("rest")
    opened.open()
    plan = gated_text(_PIECES, [opened, rest])

    def choose(call: Call) -> Script:
        return plan if _is_plan(call) else json_text("Warm things.")

    heard_live = 0

    def on_first_category() -> None:
        nonlocal heard_live
        heard_live += not rest.is_open
        if heard_live == callers:
            rest.open()

    async with AsyncExitStack() as stack:
        gemini = await stack.enter_async_context(ScriptedGemini())
        gemini.choose = choose
        settings = _PATIENT | {
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "test-key",
            "redis_url": redis_url,
        }
        servers: list[ServerProcess] = []
        for number in range(2):
            place = folder / str(number)
            place.mkdir()
            servers.append(await stack.enter_async_context(server_process(place, **settings)))
        async with asyncio.TaskGroup() as group:
            asking = [
                group.create_task(
                    hear(servers[number % 2].url, QUERY, on_first_category), name=f"ask:{number}"
                )
                for number in range(callers)
            ]
        answers = [task.result() for task in asking]
        return SharedAnswer(
            model_calls=sum(_is_plan(call) for call in gemini.calls),
            whole=sum(_is_whole(answer) for answer in answers),
            heard_live=heard_live,
            sources=Counter(_source(answer) for answer in answers),
            log_lines=[line for server in servers for line in server.log_lines()],
        )


def _is_plan(call: Call) -> bool:
    return "responseMimeType" in call.body["generationConfig"]


def _is_whole(answer: bytes) -> bool:
    labelled = all(f'"category":"{label}"'.encode() in answer for label in LABELS)
    return labelled and b"event: stream-end" in answer and b'"summary":"' in answer


def _source(answer: bytes) -> str:
    _, _, receipt = answer.rpartition(b'"receipt":')
    return receipt.partition(b'"source":"')[2].partition(b'"')[0].decode()
