"""Processes that end without warning: what was acknowledged is there, what is there is whole."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest

from conversation import ConversationConfig, Interaction, open_conversations

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 20
CONVERSATIONS = 3


def start_writer(path: Path, name: str, ids: list[str], *options: str) -> subprocess.Popen[bytes]:
    """Start a process that makes turns until it is killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conversation.turn_writer", *options, str(path), name, *ids],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        bufsize=0,
    )


def lines_before_the_kill(writer: subprocess.Popen[bytes], acknowledged: int) -> list[str]:
    """Kill the process after some acknowledged turns; return every line that it had written."""
    assert writer.stdout is not None
    text = b""
    while text.count(b"\n") < acknowledged and (more := writer.stdout.read(4096)):
        text += more
    writer.kill()
    rest, _ = writer.communicate(timeout=10)
    return (text + rest).decode().splitlines()


async def new_ids(config: ConversationConfig, count: int) -> list[str]:
    """Return the ids of new conversations, each with a first turn."""
    ids: list[str] = []
    async with open_conversations(config) as conversations:
        for _ in range(count):
            async with conversations.turn("acme") as turn:
                await turn.commit(Interaction(query="first"))
            ids.append(turn.conversation_id)
    return ids


async def stored_queries(config: ConversationConfig, conversation_id: str) -> dict[int, str]:
    """Return the kept queries by number, in order."""
    async with open_conversations(config) as conversations:
        found = await conversations.read("acme", conversation_id)
    assert found.interactions[-1].number == found.summary.turns
    return {each.number: each.query for each in found.interactions}


async def test_a_killed_process_loses_no_acknowledged_turn(tmp_path: Path) -> None:
    """Twenty kills at random moments under load: nothing lost, nothing twice, no gap.

    Two processes write at once; one is killed, the other goes on a little. Source: design, conversation.
    """
    moments = random.Random(20_07)
    config = ConversationConfig(sqlite_path=tmp_path / "c.db")
    ids = await new_ids(config, CONVERSATIONS)
    acknowledged: dict[str, dict[int, str]] = {each: {1: "first"} for each in ids}
    for round_number in range(ROUNDS):
        writers = [start_writer(tmp_path / "c.db", f"{round_number}{side}", ids) for side in "ab"]
        for writer in writers:
            for line in lines_before_the_kill(writer, moments.randint(1, 60)):
                conversation_id, text, query = line.split()
                assert int(text) not in acknowledged[conversation_id], "a number was given twice"
                acknowledged[conversation_id][int(text)] = query
        for conversation_id in ids:
            kept = await stored_queries(config, conversation_id)
            assert list(kept) == list(range(min(kept), max(kept) + 1))
            assert len(set(kept.values())) == len(kept)
            assert max(kept) >= max(acknowledged[conversation_id])
            for number, query in acknowledged[conversation_id].items():
                assert kept.get(number, query) == query
                assert number in kept or number <= max(kept) - 100
    async with open_conversations(config) as conversations:
        for conversation_id in ids:
            async with asyncio.timeout(8), conversations.turn("acme", conversation_id) as turn:
                await turn.commit(Interaction(query="after the last kill"))
    assert sum(len(turns) for turns in acknowledged.values()) > ROUNDS * 2


async def test_a_file_that_may_not_grow_refuses_turns_and_keeps_the_others(tmp_path: Path) -> None:
    """A full disk, as a limit on written bytes: every acknowledged turn is there, the refused one is not."""
    config = ConversationConfig(sqlite_path=tmp_path / "c.db")
    ids = await new_ids(config, 1)
    writer = start_writer(tmp_path / "c.db", "w", ids, f"--file-limit={300_000}")
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
