"""Alarms: idle conversations are deleted, at least once, whatever restarts."""

from __future__ import annotations

import asyncio
import logging

import pytest

from conversation import (
    ConversationConfig,
    ConversationNotFound,
    Conversations,
    Interaction,
    open_conversations,
)
from conversation.policy import DAY_SECONDS
from tests.conversation.conftest import StandingClock, until

pytestmark = pytest.mark.anyio


async def started(conversations: Conversations) -> str:
    """Return the id of a conversation with one turn."""
    async with conversations.turn("acme") as turn:
        await turn.commit(Interaction(query="first"))
    return turn.conversation_id


async def exists(conversations: Conversations, conversation_id: str) -> bool:
    """Return whether anything is kept of the conversation."""
    try:
        await conversations.read("acme", conversation_id)
    except ConversationNotFound:
        return False
    return True


async def test_thirty_idle_days_delete_a_conversation(
    conversations: Conversations, clock: StandingClock
) -> None:
    """Not a second earlier. Source: flow document, step 9."""
    conversation_id = await started(conversations)
    clock.advance(30 * DAY_SECONDS - 1)
    assert await conversations.alarms.fire_due() == 0
    assert await exists(conversations, conversation_id)
    clock.advance(1)
    assert await conversations.alarms.fire_due() == 1
    assert not await exists(conversations, conversation_id)
    assert await conversations.alarms.fire_due() == 0


async def test_every_turn_pushes_the_end_out(conversations: Conversations, clock: StandingClock) -> None:
    """Used on day 29, it lives until day 59."""
    conversation_id = await started(conversations)
    clock.advance(29 * DAY_SECONDS)
    async with conversations.turn("acme", conversation_id) as turn:
        await turn.commit(Interaction(query="still here"))
    clock.advance(29 * DAY_SECONDS)
    assert await conversations.alarms.fire_due() == 0
    clock.advance(DAY_SECONDS)
    assert await conversations.alarms.fire_due() == 1
    assert not await exists(conversations, conversation_id)


async def test_a_turn_that_was_only_begun_counts_as_use(
    conversations: Conversations, clock: StandingClock
) -> None:
    """The alarm rings, sees the use, and is set anew."""
    conversation_id = await started(conversations)
    clock.advance(29 * DAY_SECONDS)
    async with conversations.turn("acme", conversation_id) as turn:
        await turn.history()
    clock.advance(DAY_SECONDS)
    assert await conversations.alarms.fire_due() == 1
    assert await exists(conversations, conversation_id)
    clock.advance(29 * DAY_SECONDS)
    assert await conversations.alarms.fire_due() == 1
    assert not await exists(conversations, conversation_id)


async def test_an_alarm_survives_a_restart(config: ConversationConfig, clock: StandingClock) -> None:
    """The process that set it need not be the one that fires it."""
    async with open_conversations(config, clock=clock) as before:
        conversation_id = await started(before)
    clock.advance(31 * DAY_SECONDS)
    async with open_conversations(config, clock=clock) as after, asyncio.timeout(5):
        for _ in range(100_000):
            if not await exists(after, conversation_id):
                break
        assert not await exists(after, conversation_id)


async def test_an_alarm_waits_for_the_turn_that_runs(
    conversations: Conversations, clock: StandingClock
) -> None:
    """The object is serial: its alarm comes after the turn, and then finds the conversation in use."""
    conversation_id = await started(conversations)
    clock.advance(30 * DAY_SECONDS)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        async with conversations.turn("acme", conversation_id) as turn:
            await turn.history()
            firing = group.create_task(conversations.alarms.fire_due(), name="firing")
            await until(lambda: repr(conversations.namespace) == "<Namespace 1 objects, 2 turns>")
            await turn.commit(Interaction(query="just in time"))
        assert await firing == 1
    assert await exists(conversations, conversation_id)


async def test_a_failing_alarm_is_tried_again_later_and_later(
    conversations: Conversations, clock: StandingClock, caplog: pytest.LogCaptureFixture
) -> None:
    """2 s after the first failure, 4 s after the second; the conversation is gone in the end."""
    conversation_id = await started(conversations)
    clock.advance(30 * DAY_SECONDS)
    caplog.set_level(logging.WARNING)
    pauses: list[float] = []
    crowd = [conversations.turn("acme", conversation_id) for _ in range(17)]
    for place in crowd:
        await place.__aenter__()
    for pause in (2.0, 4.0):
        assert await conversations.alarms.fire_due() == 1
        pauses.append(caplog.records[-1].__dict__["again_in_seconds"])
        clock.advance(pause - 0.5)
        assert await conversations.alarms.fire_due() == 0
        clock.advance(0.5)
    for place in crowd:
        await place.__aexit__(None, None, None)
    assert pauses == [2.0, 4.0]
    assert await conversations.alarms.fire_due() == 1
    assert not await exists(conversations, conversation_id)


async def test_many_conversations_end_together(conversations: Conversations, clock: StandingClock) -> None:
    """Batches follow each other until nothing is due."""
    ids = [await started(conversations) for _ in range(70)]
    clock.advance(30 * DAY_SECONDS)
    async with asyncio.timeout(10):
        assert [await conversations.alarms.fire_due() for _ in range(3)] == [64, 6, 0]
    assert not any([await exists(conversations, each) for each in ids])
