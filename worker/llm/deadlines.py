"""Reads a model's stream under three deadlines: its first event, the gap between two, and all of it.

The HTTP clients bound single reads only, and a gateway's keep-alive lines would satisfy those forever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from worker.llm.language_model import LanguageModel, ModelError, ModelEvent, ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long a model may take."""

    first_event_seconds: float = 2.5
    gap_seconds: float = 1.5
    total_seconds: float = 8.0


async def read_within(
    deadlines: Deadlines, model: LanguageModel, request: ModelRequest, take: Callable[[ModelEvent], None]
) -> None:
    """Push every event of one call into `take`; what `take` raises ends the call.

    Raises:
        ModelError: The call failed, or `kind="timeout"`: a deadline passed.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadlines.total_seconds
    waited_for = "first event"
    events = cast(AsyncGenerator[ModelEvent], model.stream(request))
    try:
        async with aclosing(events), asyncio.timeout_at(_sooner(deadlines.first_event_seconds, end)) as limit:
            async for event in events:
                waited_for = "next event"
                limit.reschedule(_sooner(deadlines.gap_seconds, end))
                take(event)
    except TimeoutError as error:
        # Nothing is gained by asking a model again that is too slow for the shopper already.
        raise ModelError("timeout", f"the model's {waited_for} did not come in time") from error


def _sooner(seconds: float, end: float) -> float:
    return min(asyncio.get_running_loop().time() + seconds, end)
