"""What every conversation storage keeps, asked of SQLite and of a real Redis alike."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from conversation.errors import LeaseHeld, LeaseLost
from conversation.redis_storage import RedisStorage
from conversation.sqlite_storage import SqliteStorage
from conversation.storage import ClaimedAlarm, ConversationKey, ConversationStorage, StoredTurn
from tests.conversation.redis_process import redis_process

pytestmark = pytest.mark.anyio

KEY = ConversationKey(account_id="acme", conversation_id="c1")
OTHER = ConversationKey(account_id="acme", conversation_id="c2")
DAY = 86_400.0


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """Give the address of one Redis server for the module."""
    with redis_process() as server:
        yield server.url


@pytest.fixture(params=["sqlite", "redis"])
async def storages(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[ConversationStorage, ConversationStorage]]:
    """Give two storages over the same data, as two processes would have them."""
    pair: tuple[ConversationStorage, ConversationStorage]
    if request.param == "sqlite":
        pair = (SqliteStorage(tmp_path / "c.db"), SqliteStorage(tmp_path / "c.db"))
    else:
        url = request.getfixturevalue("redis_url")
        prefix = f"{{test:{uuid.uuid4().hex}}}"
        pair = (RedisStorage(url, prefix=prefix), RedisStorage(url, prefix=prefix))
    yield pair
    for storage in pair:
        await storage.aclose()


@pytest.fixture
def storage(storages: tuple[ConversationStorage, ConversationStorage]) -> ConversationStorage:
    """Give one storage."""
    return storages[0]


async def turn(
    storage: ConversationStorage,
    body: bytes,
    *,
    key: ConversationKey = KEY,
    now: float = 1000.0,
    keep: int = 100,
    alarm_at: float = 5000.0,
) -> int:
    """Begin and commit one turn; return its number."""
    token = uuid.uuid4().hex
    await storage.begin_turn(key, token, now=now, lease_until=now + 15, history=10, alarm_at=alarm_at)
    return await storage.commit_turn(key, token, body, now=now, keep=keep, alarm_at=alarm_at)


async def history(storage: ConversationStorage, *, limit: int = 10, now: float = 1e6) -> list[int]:
    """Return the numbers of the turns that a new turn would see."""
    token = uuid.uuid4().hex
    begun = await storage.begin_turn(
        KEY, token, now=now, lease_until=now + 15, history=limit, alarm_at=now + DAY
    )
    await storage.release_turn(KEY, token)
    return [each.number for each in begun.history]


async def test_turns_are_numbered_from_one_without_a_gap(storage: ConversationStorage) -> None:
    """Numbers are 1, 2, 3 for one conversation, whatever others do."""
    numbers = [await turn(storage, b"a"), await turn(storage, b"b"), await turn(storage, b"c")]
    assert numbers == [1, 2, 3]
    assert await turn(storage, b"x", key=OTHER) == 1


async def test_a_turn_reads_the_last_turns_oldest_first(storage: ConversationStorage) -> None:
    """The history is the last ten, in order of commit. Source: flow document, step 9."""
    for number in range(12):
        await turn(storage, b"%d" % number, now=1000.0 + number)
    begun = await storage.begin_turn(KEY, "t", now=2000, lease_until=2015, history=10, alarm_at=5000)
    assert begun.history == tuple(
        StoredTurn(number=number, created_at=999.0 + number, body=b"%d" % (number - 1))
        for number in range(3, 13)
    )


async def test_only_the_last_turns_are_kept(storage: ConversationStorage) -> None:
    """Of 105 turns the last 100 are stored, and the count is still 105. Source: flow document, step 9."""
    for number in range(105):
        await turn(storage, b"%d" % number)
    stored = await storage.read(KEY)
    assert stored is not None
    assert [each.number for each in stored.turns] == list(range(6, 106))
    assert stored.summary.turns == 105


async def test_bodies_come_back_byte_for_byte(storage: ConversationStorage) -> None:
    """A body may hold any byte."""
    body = bytes(range(256)) + "ä 鞋".encode()
    await turn(storage, body)
    stored = await storage.read(KEY)
    assert stored is not None
    assert [each.body for each in stored.turns] == [body]


async def test_a_lease_shuts_everybody_else_out(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """A second process is told until when the first one has the turn."""
    first, second = storages
    await first.begin_turn(KEY, "mine", now=1000, lease_until=1015, history=10, alarm_at=5000)
    with pytest.raises(LeaseHeld) as held:
        await second.begin_turn(KEY, "yours", now=1014, lease_until=1029, history=10, alarm_at=5000)
    assert held.value.until_seconds == 1015


async def test_leases_of_two_conversations_do_not_meet(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Objects run in parallel."""
    first, second = storages
    await first.begin_turn(KEY, "mine", now=1000, lease_until=1015, history=10, alarm_at=5000)
    begun = await second.begin_turn(OTHER, "yours", now=1000, lease_until=1015, history=10, alarm_at=5000)
    assert begun.fence == 1


async def test_committing_and_releasing_both_end_the_lease(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """The next process gets the turn at once, with a higher fencing number and the committed turn."""
    first, second = storages
    await turn(first, b"a")
    begun = await second.begin_turn(KEY, "t2", now=1000, lease_until=1015, history=10, alarm_at=5000)
    assert (begun.fence, [each.number for each in begun.history]) == (2, [1])
    await second.release_turn(KEY, "t2")
    assert (
        await first.begin_turn(KEY, "t3", now=1000, lease_until=1015, history=10, alarm_at=5000)
    ).fence == 3


async def test_an_expired_lease_can_be_taken_over_and_its_holder_is_fenced_off(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Whoever lost the lease writes nothing, however late it comes. Source: design, conversation."""
    first, second = storages
    slow = await first.begin_turn(KEY, "slow", now=1000, lease_until=1015, history=10, alarm_at=5000)
    quick = await second.begin_turn(KEY, "quick", now=1016, lease_until=1031, history=10, alarm_at=5000)
    assert quick.fence > slow.fence
    with pytest.raises(LeaseLost):
        await first.commit_turn(KEY, "slow", b"late", now=1017, keep=100, alarm_at=5000)
    assert await second.commit_turn(KEY, "quick", b"good", now=1018, keep=100, alarm_at=5000) == 1
    with pytest.raises(LeaseLost):
        await first.commit_turn(KEY, "slow", b"later", now=1019, keep=100, alarm_at=5000)
    stored = await first.read(KEY)
    assert stored is not None
    assert [each.body for each in stored.turns] == [b"good"]


async def test_a_renewed_lease_lasts_and_a_lost_one_cannot_be_renewed(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Renewing prolongs only what is still held, and never brings a committed turn's lease back."""
    first, second = storages
    await first.begin_turn(KEY, "slow", now=1000, lease_until=1003, history=10, alarm_at=5000)
    assert await first.renew_turn(KEY, "slow", lease_until=1006) is True
    with pytest.raises(LeaseHeld):
        await second.begin_turn(KEY, "quick", now=1005, lease_until=1008, history=10, alarm_at=5000)
    await second.begin_turn(KEY, "quick", now=1006, lease_until=1009, history=10, alarm_at=5000)
    assert await first.renew_turn(KEY, "slow", lease_until=1012) is False
    await second.commit_turn(KEY, "quick", b"a", now=1007, keep=100, alarm_at=5000)
    assert await second.renew_turn(KEY, "quick", lease_until=1012) is False
    assert await second.renew_turn(OTHER, "quick", lease_until=1012) is False
    await first.begin_turn(KEY, "next", now=1008, lease_until=1011, history=10, alarm_at=5000)


async def test_an_expired_lease_that_nobody_took_still_commits(storage: ConversationStorage) -> None:
    """Time alone loses no turn: only somebody else's lease does."""
    await storage.begin_turn(KEY, "slow", now=1000, lease_until=1015, history=10, alarm_at=5000)
    assert await storage.commit_turn(KEY, "slow", b"late", now=9999, keep=100, alarm_at=99999) == 1


async def test_a_commit_sent_twice_is_one_turn(storage: ConversationStorage) -> None:
    """A repeated command, after a lost answer say, returns the first one's number."""
    await storage.begin_turn(KEY, "t", now=1000, lease_until=1015, history=10, alarm_at=5000)
    assert await storage.commit_turn(KEY, "t", b"a", now=1001, keep=100, alarm_at=5000) == 1
    assert await storage.commit_turn(KEY, "t", b"a", now=1002, keep=100, alarm_at=5000) == 1
    assert await history(storage) == [1]


async def test_releasing_with_another_token_changes_nothing(storage: ConversationStorage) -> None:
    """A late release cannot end somebody else's lease."""
    await storage.begin_turn(KEY, "mine", now=1000, lease_until=1015, history=10, alarm_at=5000)
    await storage.release_turn(KEY, "yours")
    with pytest.raises(LeaseHeld):
        await storage.begin_turn(KEY, "yours", now=1001, lease_until=1016, history=10, alarm_at=5000)


async def test_a_commit_without_a_lease_is_refused(storage: ConversationStorage) -> None:
    """A turn that never began cannot be committed."""
    with pytest.raises(LeaseLost):
        await storage.commit_turn(KEY, "t", b"a", now=1000, keep=100, alarm_at=5000)
    assert await storage.read(KEY) is None


async def test_deleting_leaves_nothing_and_ends_running_turns(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Turns, alarm and list entry go, a turn that runs meanwhile is not committed, and numbering restarts."""
    first, second = storages
    await turn(first, b"a")
    await second.begin_turn(KEY, "running", now=1000, lease_until=1015, history=10, alarm_at=5000)
    assert await first.delete(KEY) is True
    with pytest.raises(LeaseLost):
        await second.commit_turn(KEY, "running", b"b", now=1001, keep=100, alarm_at=5000)
    assert await first.read(KEY) is None
    assert await first.list_conversations("acme", limit=10, offset=0) == ()
    assert await first.claim_alarms(now=1e9, claim_until=2e9, limit=10) == ()
    assert await first.delete(KEY) is False
    assert await turn(first, b"c") == 1


async def test_an_account_sees_only_its_own(storage: ConversationStorage) -> None:
    """The same conversation id under another account is another conversation, also with odd names."""
    strangers = [
        ConversationKey(account_id=account, conversation_id=conversation)
        for account, conversation in [("acme:c1", "x"), ("acme", "c1:x"), ("other", "c1"), ("acme%3Ac1", "x")]
    ]
    await turn(storage, b"mine")
    for stranger in strangers:
        assert await storage.read(stranger) is None
        assert await turn(storage, b"theirs", key=stranger) == 1
    assert await storage.delete(strangers[2]) is True
    stored = await storage.read(KEY)
    assert stored is not None
    assert [each.body for each in stored.turns] == [b"mine"]


async def test_the_list_shows_the_last_used_first_in_pages(storage: ConversationStorage) -> None:
    """Only conversations with a turn are listed; a page starts where the one before ended."""
    for number in range(5):
        key = ConversationKey(account_id="acme", conversation_id=f"c{number}")
        await turn(storage, b"a", key=key, now=1000.0 + number)
    await turn(storage, b"b", key=KEY, now=2000.0)
    await storage.begin_turn(
        ConversationKey(account_id="acme", conversation_id="empty"),
        "t",
        now=3000,
        lease_until=3015,
        history=10,
        alarm_at=5000,
    )
    first = await storage.list_conversations("acme", limit=3, offset=0)
    rest = await storage.list_conversations("acme", limit=3, offset=3)
    assert [line.conversation_id for line in [*first, *rest]] == ["c1", "c4", "c3", "c2", "c0"]
    assert (first[0].turns, first[0].created_at, first[0].updated_at) == (2, 1001.0, 2000.0)


async def test_an_alarm_is_claimed_by_one_process_only(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Two processes that look at the same time get disjoint alarms, and all of them."""
    first, second = storages
    keys = {ConversationKey(account_id="acme", conversation_id=f"c{number}") for number in range(20)}
    for key in keys:
        await turn(first, b"a", key=key, alarm_at=1100)
    claims: list[tuple[ClaimedAlarm, ...]] = []

    async def claim(storage: ConversationStorage) -> None:
        claims.append(tuple(await storage.claim_alarms(now=1200, claim_until=1260, limit=11)))

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for name, storage in {"first": first, "second": second}.items():
            group.create_task(claim(storage), name=name)
    claimed = [alarm.key for claim in claims for alarm in claim]
    assert len(claimed) == 20
    assert set(claimed) == keys


async def test_an_alarm_that_is_not_due_is_not_claimed(storage: ConversationStorage) -> None:
    """Every turn pushes its conversation's one alarm out."""
    await turn(storage, b"a", alarm_at=1100)
    await turn(storage, b"b", alarm_at=1200)
    assert await storage.claim_alarms(now=1199, claim_until=1300, limit=10) == ()
    claimed = await storage.claim_alarms(now=1200, claim_until=1300, limit=10)
    assert claimed == (ClaimedAlarm(key=KEY, attempts=1, claimed_until=1300),)


async def test_a_claim_without_an_outcome_fires_again(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """A process that dies with a claim loses no alarm; attempts are counted."""
    first, second = storages
    await turn(first, b"a", alarm_at=1100)
    await first.claim_alarms(now=1100, claim_until=1160, limit=10)
    assert await second.claim_alarms(now=1159, claim_until=1219, limit=10) == ()
    assert await second.claim_alarms(now=1160, claim_until=1220, limit=10) == (
        ClaimedAlarm(key=KEY, attempts=2, claimed_until=1220),
    )


async def test_postponing_does_not_undo_a_turn_made_meanwhile(storage: ConversationStorage) -> None:
    """The alarm that a turn has set since the claim stays as it is."""
    await turn(storage, b"a", alarm_at=1100)
    (alarm,) = await storage.claim_alarms(now=1100, claim_until=1160, limit=10)
    await turn(storage, b"b", alarm_at=9000)
    await storage.postpone_alarm(alarm, 1200, attempts=1)
    assert await storage.claim_alarms(now=8999, claim_until=9999, limit=10) == ()


async def test_a_postponed_alarm_keeps_the_attempts_it_was_given(storage: ConversationStorage) -> None:
    """Back-off goes by the attempts; a success starts them anew."""
    await turn(storage, b"a", alarm_at=1100)
    (alarm,) = await storage.claim_alarms(now=1100, claim_until=1160, limit=10)
    await storage.postpone_alarm(alarm, 1110, attempts=alarm.attempts)
    (again,) = await storage.claim_alarms(now=1110, claim_until=1170, limit=10)
    assert again.attempts == 2
    await storage.postpone_alarm(again, 1180, attempts=0)
    (fresh,) = await storage.claim_alarms(now=1180, claim_until=1240, limit=10)
    assert fresh.attempts == 1


async def test_an_alarm_deletes_only_what_is_idle(storage: ConversationStorage) -> None:
    """Used after the limit: it stays, and its last use is told. Else nothing of it is left."""
    await turn(storage, b"a", now=1000, alarm_at=1100)
    assert await storage.delete_if_idle(KEY, idle_since=999) == 1000
    assert await storage.read(KEY) is not None
    assert await storage.delete_if_idle(KEY, idle_since=1000) is None
    assert await storage.read(KEY) is None
    assert await storage.claim_alarms(now=1e9, claim_until=2e9, limit=10) == ()
    assert await storage.delete_if_idle(KEY, idle_since=1000) is None


async def test_a_turn_that_never_ends_leaves_a_conversation_with_an_alarm(
    storage: ConversationStorage,
) -> None:
    """What a first turn created before its process died is found and deleted like any other."""
    await storage.begin_turn(KEY, "dead", now=1000, lease_until=1015, history=10, alarm_at=1100)
    (alarm,) = await storage.claim_alarms(now=1100, claim_until=1160, limit=10)
    assert alarm.key == KEY
    assert await storage.delete_if_idle(KEY, idle_since=1050) is None


async def test_the_first_secret_wins(storages: tuple[ConversationStorage, ConversationStorage]) -> None:
    """All processes of a storage share one secret."""
    first, second = storages
    assert await first.shared_secret(b"a" * 32) == b"a" * 32
    assert await second.shared_secret(b"b" * 32) == b"a" * 32


async def test_many_turns_at_once_keep_every_number(
    storages: tuple[ConversationStorage, ConversationStorage],
) -> None:
    """Under contention of two processes every acknowledged turn is there, once, in order."""
    acknowledged: list[tuple[int, bytes]] = []

    async def shopper(storage: ConversationStorage, name: str) -> None:
        for number in range(15):
            token, body = f"{name}-{number}", f"{name}-{number}".encode()
            while True:
                try:
                    await storage.begin_turn(KEY, token, now=1, lease_until=99, history=10, alarm_at=5000)
                    break
                except LeaseHeld:
                    await asyncio.sleep(0)
            acknowledged.append(
                (await storage.commit_turn(KEY, token, body, now=1, keep=100, alarm_at=5000), body)
            )

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for index in range(4):
            group.create_task(shopper(storages[index % 2], f"s{index}"), name=f"shopper-{index}")
    stored = await storages[0].read(KEY)
    assert stored is not None
    assert sorted(acknowledged) == [(each.number, each.body) for each in stored.turns]
    assert [each.number for each in stored.turns] == list(range(1, 61))
