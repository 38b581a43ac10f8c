"""Kills a real server under load and compares what is kept with what its shoppers had seen acknowledged.

A turn is acknowledged when its stream has ended after a receipt with the turn's number. Of those none may
be lost or changed; of the others at most the one that was under way may be there, whole.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.support.server_process import ServerProcess, server_process
from tests.support.talk import CONVERSATIONS, Talk

SHOPPERS = 4
_SENTENCES = (
    "show me tents under {n}",
    "rain jackets over {n}",
    "something cheaper than {n}",
    "in blue, up to {n}",
    "not wool and under {n}",
    "show me more, at most {n}",
)


@dataclass(slots=True)
class Witness:
    """What the shoppers have asked and seen: queries by conversation, acknowledged ones by number."""

    asked: dict[str, list[str]] = field(default_factory=dict)
    acknowledged: dict[str, dict[int, str]] = field(default_factory=dict)
    kills: int = 0
    sentence: int = 0
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    def next_sentence(self) -> str:
        """Return a sentence that nobody has said before."""
        self.sentence += 1
        return _SENTENCES[self.sentence % len(_SENTENCES)].format(n=1000 + self.sentence)

    def turns(self) -> int:
        """Return how many turns were acknowledged."""
        return sum(len(numbers) for numbers in self.acknowledged.values())


async def kill_rounds(
    folder: Path, rounds: int, seed: int, tell: Callable[[Witness], None] = lambda witness: None
) -> Witness:
    """Kill the server so many times at random moments, checking everything after each restart.

    `tell` is told after each of them.
    """
    witness, moments = Witness(), random.Random(seed)
    for _ in range(rounds):
        async with server_process(folder) as server:
            await check(server, witness)
            await _load_and_kill(server, witness, moments)
        tell(witness)
    async with server_process(folder) as server:
        await check(server, witness)
        await _go_on(server, witness)
        await check(server, witness)
    return witness


async def check(server: ServerProcess, witness: Witness) -> None:
    """Compare every conversation that was ever seen with what is kept of it."""
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as client:
        for conversation_id, asked in witness.asked.items():
            acknowledged = witness.acknowledged.get(conversation_id, {})
            answer = await client.get(f"{CONVERSATIONS}/{conversation_id}")
            if answer.status_code == 404:
                assert not acknowledged, f"lost: {acknowledged}"
                continue
            _compare(answer.json(), asked, acknowledged, witness.kills)


def _compare(kept: dict[str, Any], asked: Sequence[str], acknowledged: dict[int, str], kills: int) -> None:
    turns = kept["interactions"]
    numbers = [turn["number"] for turn in turns]
    assert numbers == list(range(kept["turns"] - len(turns) + 1, kept["turns"] + 1)), numbers
    stored = {turn["number"]: turn["query"] for turn in turns}
    assert len(set(stored.values())) == len(stored), "a turn is there twice"
    assert set(stored.values()) <= set(asked), "a turn is there that nobody asked for"
    kept_of = {number: query for number, query in acknowledged.items() if number >= numbers[0]}
    assert kept_of.items() <= stored.items(), f"lost or renumbered: {kept_of.items() - stored.items()}"
    assert len(stored) - len(kept_of) <= kills, "more is kept than was under way at the kills"
    assert all(turn["summary"] for turn in turns), "a turn is half-written"


async def _load_and_kill(server: ServerProcess, witness: Witness, moments: random.Random) -> None:
    witness.enough = asyncio.Event()
    until = witness.turns() + moments.randint(1, 60)
    older = [name for name, numbers in witness.acknowledged.items() if numbers]
    async with (
        asyncio.timeout(60),
        httpx.AsyncClient(base_url=server.url, timeout=20) as client,
        asyncio.TaskGroup() as group,
    ):
        for number in range(SHOPPERS):
            # One goes on with a conversation whose lease may still be that of the killed process.
            known = moments.choice(older) if older and number == 0 else None
            group.create_task(_shop(Talk(client, conversation_id=known), witness, until), name="shopper")
        await witness.enough.wait()
        server.process.kill()
        witness.kills += 1
        await server.process.wait()


async def _shop(talk: Talk, witness: Witness, until: int) -> None:
    """Talk until the server is gone."""
    while True:
        try:
            await _one_turn(talk, witness)
        except httpx.HTTPError:
            return
        if witness.turns() >= until:
            witness.enough.set()


async def _one_turn(talk: Talk, witness: Witness) -> None:
    sentence = witness.next_sentence()
    if talk.conversation_id is not None:
        witness.asked[talk.conversation_id].append(sentence)
    said = await talk.say(sentence)
    conversation_id = said.events[0].data["conversationId"]
    if sentence not in witness.asked.setdefault(conversation_id, []):
        witness.asked[conversation_id].append(sentence)
    if said.names[-1] == "stream-end" and said.receipt["turn"] is not None:
        witness.acknowledged.setdefault(conversation_id, {})[said.receipt["turn"]] = sentence


async def _go_on(server: ServerProcess, witness: Witness) -> None:
    """Make one more turn of conversations that the kills cut off; leases of the dead end by themselves."""
    latest = list(witness.asked)[-SHOPPERS:]
    before = witness.turns()
    async with (
        asyncio.timeout(30),
        httpx.AsyncClient(base_url=server.url, timeout=20) as client,
        asyncio.TaskGroup() as group,
    ):
        for known in latest:
            group.create_task(_one_turn(Talk(client, conversation_id=known), witness), name="shopper")
    assert witness.turns() == before + len(latest)
