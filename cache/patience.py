"""Waits for somebody else's answer, and counts only the time that is theirs.

A process with hundreds of streams comes round late: an answer that came in a millisecond is seen after a
budget of fifty. Calling that a slow tier would open its breaker, and send every question to the model just
when most are asked. So a wait that ended late is taken up again, within a ceiling.
"""

from __future__ import annotations

import asyncio
from typing import Any

MOST_SECONDS = 1.0
"""How long a wait may take in all, however busy this process is; an idle one never waits over the budget."""

_LATE_SHARE = 0.25
"""A timer this share of the budget late says that the event loop did not come round."""


async def wait_for_answer(
    answer: asyncio.Future[Any], budget_seconds: float, most_seconds: float = MOST_SECONDS
) -> None:
    """Return when `answer` is done or its maker has had the budget; it is neither cancelled nor read."""
    loop = asyncio.get_running_loop()
    end = loop.time() + max(most_seconds, budget_seconds)
    while not answer.done():
        due = loop.time() + budget_seconds
        await _done_within(answer, budget_seconds, loop)
        now = loop.time()
        if now - due < budget_seconds * _LATE_SHARE or now > end:
            return


async def _done_within(answer: asyncio.Future[Any], seconds: float, loop: asyncio.AbstractEventLoop) -> None:
    # What `asyncio.wait` does for one future, at a third of its cost.
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    answer.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        answer.remove_done_callback(wake)
