"""Storage in trouble: a typed error that names the cause, nothing half-written, and a way back."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from pathlib import Path

import pytest

from conversation import (
    ConversationConfig,
    ConversationNotFound,
    ConversationPolicy,
    Conversations,
    Interaction,
    StorageDamaged,
    StorageFull,
    StorageLocked,
    StorageUnavailable,
    open_conversations,
)
from conversation.sqlite_storage import SqliteStorage
from conversation.storage import ConversationKey
from tests.conversation.redis_process import redis_process

pytestmark = pytest.mark.anyio


async def say(conversations: Conversations, conversation_id: str | None, query: str) -> tuple[str, int]:
    """Make one turn; return the conversation's id and the turn's number."""
    async with conversations.turn("acme", conversation_id) as turn:
        committed = await turn.commit(Interaction(query=query))
    return turn.conversation_id, committed.number


async def test_a_file_that_is_no_database_is_named_and_left_alone(
    config: ConversationConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Starting goes on, turns say what is wrong, and nobody overwrites what could be recovered."""
    damaged = b"this was a database once" * 500
    path = tmp_path / "conversations.db"
    path.write_bytes(damaged)
    caplog.set_level(logging.WARNING)
    async with open_conversations(config) as conversations:
        with pytest.raises(StorageDamaged, match="conversations.db"):
            await say(conversations, None, "hello")
        with pytest.raises(StorageDamaged):
            await conversations.list("acme")
    assert "conversation_storage_unavailable" in caplog.messages
    assert path.read_bytes() == damaged


async def test_a_repaired_file_is_used_without_a_restart(config: ConversationConfig, tmp_path: Path) -> None:
    """Once the operator has moved the damaged file away, turns are kept again."""
    path = tmp_path / "conversations.db"
    path.write_bytes(b"garbage" * 1000)
    async with open_conversations(config) as conversations:
        with pytest.raises(StorageDamaged):
            await say(conversations, None, "hello")
        path.rename(tmp_path / "damaged.db")
        conversation_id, number = await say(conversations, None, "hello again")
        assert number == 1
        assert await say(conversations, conversation_id, "and again") == (conversation_id, 2)


async def test_pages_damaged_in_the_middle_are_an_error_not_a_wrong_answer(
    config: ConversationConfig, tmp_path: Path
) -> None:
    """A page of turns overwritten by something else is reported as damage."""
    async with open_conversations(config) as conversations:
        conversation_id, _ = await say(conversations, None, "hello")
        for number in range(60):
            async with conversations.turn("acme", conversation_id) as turn:
                await turn.commit(Interaction(query=f"{number}", summary="long " * 200))
    path = tmp_path / "conversations.db"
    data = bytearray(path.read_bytes())
    for page in range(len(data) // 4096 // 2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 4096] = b"\xff" * 4096
    path.write_bytes(bytes(data))
    async with open_conversations(config) as conversations:
        with pytest.raises(StorageDamaged):
            await conversations.read("acme", conversation_id)


async def test_a_file_at_its_bound_refuses_turns_and_takes_them_again_when_there_is_room(
    tmp_path: Path,
) -> None:
    """The refused turn is not there; deleting a conversation makes room."""
    config = ConversationConfig(sqlite_path=tmp_path / "c.db", max_file_bytes=200_000)
    ids: list[str] = []
    async with open_conversations(config) as conversations:

        async def fill() -> None:
            while True:
                async with conversations.turn("acme") as turn:
                    await turn.commit(Interaction(query="q", summary="x" * 20_000))
                ids.append(turn.conversation_id)

        with pytest.raises(StorageFull):
            await fill()
        assert len(ids) >= 5
        for conversation_id in ids:
            kept = await conversations.read("acme", conversation_id)
            assert [each.number for each in kept.interactions] == [1]
        assert len(await conversations.list("acme", limit=100)) == len(ids)
        await conversations.delete("acme", ids[0])
        await conversations.delete("acme", ids[1])
        assert (await say(conversations, None, "room again"))[1] == 1


async def test_a_file_locked_by_another_program_is_an_error_in_time(tmp_path: Path) -> None:
    """A long transaction elsewhere ends in `StorageLocked`; when it ends, turns go on."""
    storage = SqliteStorage(tmp_path / "c.db", busy_seconds=0.05)
    key = ConversationKey(account_id="acme", conversation_id="c")
    try:
        await storage.begin_turn(key, "t", now=1, lease_until=16, history=10, alarm_at=99)
        other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageLocked, match="locked"):
            await storage.commit_turn(key, "t", b"a", now=2, keep=100, alarm_at=99)
        other.execute("ROLLBACK")
        other.close()
        assert await storage.commit_turn(key, "t", b"a", now=3, keep=100, alarm_at=99) == 1
    finally:
        await storage.aclose()


async def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "occupied").write_text("")
    config = ConversationConfig(sqlite_path=tmp_path / "occupied" / "c.db")
    async with open_conversations(config) as conversations:
        with pytest.raises(StorageUnavailable, match="c.db"):
            await say(conversations, None, "hello")


async def test_a_file_of_a_newer_program_is_not_touched(config: ConversationConfig, tmp_path: Path) -> None:
    """Its schema is unknown here."""
    connection = sqlite3.connect(tmp_path / "conversations.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    async with open_conversations(config) as conversations:
        with pytest.raises(StorageUnavailable, match="schema 99"):
            await say(conversations, None, "hello")


async def test_a_failed_turn_does_not_fail_those_it_shares_a_commit_with(tmp_path: Path) -> None:
    """Writes that are committed together are undone apart."""
    storage = SqliteStorage(tmp_path / "c.db")
    keys = [ConversationKey(account_id="acme", conversation_id=f"c{number}") for number in range(20)]
    outcomes: dict[int, str] = {}

    async def commit(number: int) -> None:
        token = "t" if number % 2 else "never begun"
        try:
            await storage.commit_turn(keys[number], token, b"a", now=2, keep=100, alarm_at=99)
            outcomes[number] = "committed"
        except Exception as error:  # noqa: BLE001
            outcomes[number] = type(error).__name__

    try:
        for key in keys:
            await storage.begin_turn(key, "t", now=1, lease_until=16, history=10, alarm_at=99)
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            for number in range(20):
                group.create_task(commit(number), name=f"commit-{number}")
    finally:
        await storage.aclose()
    assert outcomes == {number: "committed" if number % 2 else "LeaseLost" for number in range(20)}


async def test_a_closed_storage_refuses_and_finishes_what_it_accepted(tmp_path: Path) -> None:
    """What was accepted before closing is committed, what comes after is refused."""
    storage = SqliteStorage(tmp_path / "c.db")
    key = ConversationKey(account_id="acme", conversation_id="c")
    await storage.begin_turn(key, "t", now=1, lease_until=16, history=10, alarm_at=99)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        commit = group.create_task(
            storage.commit_turn(key, "t", b"a", now=2, keep=100, alarm_at=99), name="commit"
        )
        await asyncio.sleep(0)
        await storage.aclose()
    assert commit.result() == 1
    with pytest.raises(StorageUnavailable, match="closed"):
        await storage.release_turn(key, "t")
    with pytest.raises(StorageUnavailable, match="closed"):
        await storage.read(key)


async def test_redis_gone_is_an_error_and_redis_back_goes_on() -> None:
    """The process neither stops nor waits long; after the server's return turns are kept again."""
    with redis_process() as server:
        config = ConversationConfig(
            redis_url=server.url, timeout_seconds=0.5, policy=ConversationPolicy(release_seconds=0.5)
        )
        port = int(server.url.split(":")[2].split("/")[0])
        async with asyncio.timeout(30), open_conversations(config) as conversations:
            conversation_id, _ = await say(conversations, None, "hello")
            server.kill()
            with pytest.raises(StorageUnavailable):
                await say(conversations, conversation_id, "anybody there?")
            with redis_process(port=port):
                assert await say(conversations, conversation_id, "hello again") == (conversation_id, 1)


async def test_leaving_ends_at_once_whatever_the_client_is_doing() -> None:
    """A cancellation that meets Redis while it connects is not lost, however often one opens and closes."""
    with redis_process() as server:
        for turns in range(60):
            async with (
                asyncio.timeout(5),
                open_conversations(ConversationConfig(redis_url=server.url)) as opened,
            ):
                for _ in range(turns % 3):
                    await say(opened, None, "hello")


async def test_more_shoppers_than_connections_all_get_their_turn() -> None:
    """Nobody starves while others come again and again: first come, first served."""
    with redis_process() as server:
        config = ConversationConfig(redis_url=server.url, timeout_seconds=1.0)
        ended: list[str] = []

        async def shop(opened: Conversations, name: str) -> None:
            conversation_id: str | None = None
            for _ in range(60):
                conversation_id, _number = await say(opened, conversation_id, name)
            ended.append(name)

        async with asyncio.timeout(20), open_conversations(config) as opened, asyncio.TaskGroup() as group:
            for number in range(40):
                group.create_task(shop(opened, f"shopper-{number}"), name=f"shopper-{number}")
        assert len(ended) == 40


async def test_starting_without_redis_still_gives_out_ids(caplog: pytest.LogCaptureFixture) -> None:
    """An id given out while Redis was away is good afterwards; a forged one is never."""
    with redis_process() as server:
        server.kill()
        port = int(server.url.split(":")[2].split("/")[0])
        config = ConversationConfig(redis_url=server.url, timeout_seconds=0.5)
        async with asyncio.timeout(30), open_conversations(config) as conversations:
            assert "conversation_storage_unavailable" in caplog.messages
            async with conversations.turn("acme") as turn:
                with pytest.raises(StorageUnavailable):
                    await turn.history()
            with pytest.raises(StorageUnavailable):
                await say(conversations, "A" * 40, "forged, but who knows")
            with redis_process(port=port):
                assert (await say(conversations, turn.conversation_id, "hello"))[1] == 1
                with pytest.raises(ConversationNotFound):
                    await say(conversations, "A" * 40, "forged")


async def test_a_redis_without_room_refuses_turns() -> None:
    """A server at its memory limit that evicts nothing is a full storage."""
    with redis_process("--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as server:
        config = ConversationConfig(redis_url=server.url)
        async with asyncio.timeout(30), open_conversations(config) as conversations:

            async def fill() -> None:
                while True:
                    async with conversations.turn("acme") as turn:
                        await turn.commit(Interaction(query="q", summary="x" * 60_000))

            with pytest.raises(StorageFull, match="no room"):
                await fill()
