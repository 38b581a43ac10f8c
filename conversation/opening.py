"""Opens the conversations of a process: storage, namespace, and what runs beside the turns."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conversation.conversations import Conversations, try_load_secret
from conversation.policy import MAX_FILE_BYTES, ConversationPolicy
from conversation.sqlite_storage import SqliteStorage
from conversation.storage import ConversationStorage


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationConfig:
    """Where conversations are kept; `redis_url` wins over `sqlite_path`."""

    sqlite_path: Path | None = None
    redis_url: str | None = None
    max_file_bytes: int = MAX_FILE_BYTES
    timeout_seconds: float = 2.0
    policy: ConversationPolicy = field(default_factory=ConversationPolicy)

    def __post_init__(self) -> None:
        if self.sqlite_path is None and self.redis_url is None:
            raise ValueError("conversations need sqlite_path or redis_url")


@asynccontextmanager
async def open_conversations(
    config: ConversationConfig, *, clock: Callable[[], float] = time.time
) -> AsyncIterator[Conversations]:
    """Open the storage and run the alarms until the end of the `async with`.

    A storage that does not answer is no reason not to start: every turn tries it anew.
    """
    storage = _open_storage(config)
    try:
        conversations = Conversations(storage, config.policy, clock)
        await try_load_secret(conversations)
        failure: BaseException | None = None
        async with asyncio.TaskGroup() as group:
            beside = (
                group.create_task(conversations.alarms.run(), name="conversation-alarms"),
                group.create_task(conversations.leases.run(), name="conversation-leases"),
            )
            try:
                yield conversations
            except BaseException as error:  # noqa: BLE001
                # Raised below, outside the group, so that the caller's error stays what it was.
                failure = error
            for task in beside:
                task.cancel()
        if failure is not None:
            raise failure
    finally:
        await storage.aclose()


def _open_storage(config: ConversationConfig) -> ConversationStorage:
    if config.redis_url is not None:
        # Its client takes 6 MB, which a process without Redis does not pay.
        module = importlib.import_module("conversation.redis_storage")
        storage: ConversationStorage = module.RedisStorage(
            config.redis_url, timeout_seconds=config.timeout_seconds
        )
        return storage
    assert config.sqlite_path is not None
    return SqliteStorage(
        config.sqlite_path, timeout_seconds=config.timeout_seconds, max_bytes=config.max_file_bytes
    )
