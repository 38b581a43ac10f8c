"""A process that makes turns and reports each one after it was acknowledged, until it is killed.

Run as `python -m tests.conversation.turn_writer PLACE NAME IDS...`, where the place is a file or a `redis://`
URL; each line it writes is `conversation number query`. `--file-limit=BYTES` bounds what it may write.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path

from conversation import (
    ConversationConfig,
    ConversationError,
    ConversationPolicy,
    Conversations,
    Interaction,
    LeaseLost,
    open_conversations,
)

SHOPPERS_PER_CONVERSATION = 2
LEASE_SECONDS = 0.5


async def shop(conversations: Conversations, conversation_id: str, name: str) -> None:
    """Make turn after turn; report those that were acknowledged, end at the first that was not."""
    number = 0
    while True:
        number += 1
        query = f"{name}-{number}"
        try:
            async with conversations.turn("acme", conversation_id) as turn:
                await turn.history()
                committed = await turn.commit(Interaction(query=query, summary="s" * 400))
        except LeaseLost:
            # On a busy machine a lease may not be renewed in time; the turn was not acknowledged.
            continue
        except ConversationError as error:
            report(f"refused {type(error).__name__}")
            return
        report(f"{conversation_id} {committed.number} {query}")


def report(line: str) -> None:
    """Write the whole line in one call, so that a kill cannot cut an acknowledged one in two."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


def config_of(place: str, policy: ConversationPolicy | None = None) -> ConversationConfig:
    """Return the configuration of a file or a Redis server."""
    policy = policy or ConversationPolicy()
    if place.startswith("redis://"):
        return ConversationConfig(redis_url=place, policy=policy)
    return ConversationConfig(sqlite_path=Path(place), policy=policy)


async def run(place: str, name: str, ids: list[str]) -> None:
    """Let several shoppers of several conversations write at once."""
    # A short lease, because the next process has to wait for those of a killed one.
    config = config_of(place, ConversationPolicy(lease_seconds=LEASE_SECONDS))
    async with open_conversations(config) as conversations, asyncio.TaskGroup() as group:
        for index, conversation_id in enumerate(ids):
            for shopper in range(SHOPPERS_PER_CONVERSATION):
                who = f"{name}.{index}.{shopper}"
                group.create_task(shop(conversations, conversation_id, who), name=who)


def main(arguments: list[str]) -> None:
    """Read the arguments and run."""
    if arguments[0].startswith("--file-limit="):
        limit = int(arguments.pop(0).partition("=")[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    asyncio.run(run(arguments[0], arguments[1], arguments[2:]))


if __name__ == "__main__":
    main(sys.argv[1:])
