"""Processes that end without warning: what was acknowledged is there, what is there is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from conversation import ConversationConfig, Interaction, open_conversations
from tests.conversation.kill_rounds import kill_rounds, new_ids, start_writer, stored_queries
from tests.conversation.redis_process import redis_process

pytestmark = pytest.mark.anyio

ROUNDS = 20


async def test_a_killed_process_loses_no_acknowledged_turn(tmp_path: Path) -> None:
    """Twenty rounds of kills at random moments under load: nothing lost, nothing twice, no gap.

    Source: design, conversation.
    """
    assert await kill_rounds(str(tmp_path / "c.db"), ROUNDS, seed=2007) > ROUNDS * 2


async def test_killed_processes_on_one_redis_lose_no_acknowledged_turn() -> None:
    """The same over a real Redis server: the scripts fence off whoever lost its lease."""
    with redis_process() as server:
        assert await kill_rounds(server.url, 5, seed=2008) > 10


async def test_a_file_that_may_not_grow_refuses_turns_and_keeps_the_others(tmp_path: Path) -> None:
    """A full disk, as a limit on written bytes: every acknowledged turn is there, the refused one is not."""
    config = ConversationConfig(sqlite_path=tmp_path / "c.db")
    ids = await new_ids(config, 1)
    writer = start_writer(str(tmp_path / "c.db"), "w", ids, f"--file-limit={300_000}")
    output, _ = writer.communicate(timeout=30)
    lines = [line.split() for line in output.decode().splitlines()]
    refused = [words[1] for words in lines if words[0] == "refused"]
    acknowledged = {int(words[1]): words[2] for words in lines if words[0] != "refused"}
    assert writer.returncode == 0
    assert "StorageFull" in refused
    assert acknowledged
    kept = await stored_queries(config, ids[0])
    assert max(kept) == max(acknowledged)
    assert all(kept.get(number, query) == query for number, query in acknowledged.items())
    async with open_conversations(config) as conversations, conversations.turn("acme", ids[0]) as turn:
        assert (await turn.commit(Interaction(query="room again"))).number == max(kept) + 1
