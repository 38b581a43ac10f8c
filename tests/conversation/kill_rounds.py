"""Kills writing processes at random moments, round after round, and compares with what they had reported.

The tests run twenty rounds; `python -m tests.conversation.kill_rounds 200` runs as many as it is told.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from conversation import ConversationConfig, Interaction, open_conversations
from tests.conversation.turn_writer import config_of

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = 3
TWO_AT_ONCE_EVERY = 4


def start_writer(place: str, name: str, ids: list[str], *options: str) -> subprocess.Popen[bytes]:
    """Start a process that makes turns until it is killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conversation.turn_writer", *options, place, name, *ids],
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


async def kill_rounds(place: str, rounds: int, seed: int) -> int:
    """Kill one process per round, two that write at once every fourth; return the acknowledged turns.

    Raises:
        AssertionError: A turn was lost, given twice, half-written or left a gap.
    """
    moments = random.Random(seed)
    config = config_of(place)
    ids = await new_ids(config, CONVERSATIONS)
    acknowledged: dict[str, dict[int, str]] = {each: {1: "first"} for each in ids}
    for round_number in range(rounds):
        sides = "ab" if round_number % TWO_AT_ONCE_EVERY == 0 else "a"
        writers = [start_writer(place, f"{round_number}{side}", ids) for side in sides]
        for writer in writers:
            for line in lines_before_the_kill(writer, moments.randint(1, 60)):
                conversation_id, text, query = line.split()
                assert int(text) not in acknowledged[conversation_id], "a number was given twice"
                acknowledged[conversation_id][int(text)] = query
        for conversation_id in ids:
            kept = await stored_queries(config, conversation_id)
            assert list(kept) == list(range(min(kept), max(kept) + 1)), "there is a gap"
            assert len(set(kept.values())) == len(kept), "a turn is there twice"
            assert max(kept) >= max(acknowledged[conversation_id]), "the last turn is lost"
            for number, query in acknowledged[conversation_id].items():
                assert kept.get(number, query) == query, "a turn is another one"
                assert number in kept or number <= max(kept) - 100, "a turn is lost"
    async with open_conversations(config) as conversations:
        for conversation_id in ids:
            async with asyncio.timeout(8), conversations.turn("acme", conversation_id) as turn:
                await turn.commit(Interaction(query="after the last kill"))
    return sum(len(turns) for turns in acknowledged.values())


def main() -> None:
    """Run the rounds that the command line asks for, with a seed of their own."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = random.randrange(1 << 30)
    with tempfile.TemporaryDirectory() as folder:
        turns = asyncio.run(kill_rounds(f"{folder}/conversations.db", rounds, seed))
    sys.stdout.write(f"{rounds} rounds with seed {seed}: {turns} acknowledged turns, none lost\n")


if __name__ == "__main__":
    main()
