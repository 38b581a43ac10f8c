"""Turns and the owner's rights, through the package's face."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from conversation import (
    ConversationBusy,
    ConversationConfig,
    ConversationNotFound,
    ConversationPolicy,
    Conversations,
    Interaction,
    InteractionTooLarge,
    LeaseLost,
    fitted_interaction,
    open_conversations,
)
from conversation.conversations import MAX_LISTED
from conversation.interaction import MAX_BYTES, MAX_PRODUCT_IDS
from conversation.turn_queue import MAX_WAITING
from tests.conversation.conftest import StandingClock, until

pytestmark = pytest.mark.anyio


async def say(conversations: Conversations, conversation_id: str | None, query: str) -> Interaction:
    """Make one turn that asks `query`."""
    async with conversations.turn("acme", conversation_id) as turn:
        return await turn.commit(Interaction(query=query, summary=turn.conversation_id))


async def started(conversations: Conversations) -> str:
    """Return the id of a conversation with one turn."""
    return (await say(conversations, None, "first")).summary


def is_written(folder: Path, words: bytes) -> bool:
    """Return whether any file of the folder has the words."""
    return any(words in file.read_bytes() for file in folder.iterdir())


async def test_the_next_turn_sees_what_the_last_one_committed(
    conversations: Conversations, clock: StandingClock
) -> None:
    """Every part of an interaction comes back, with its number and time."""
    said = Interaction(
        query="red shoes",
        summary="Two pairs",
        product_ids=("p1", "p2"),
        categories=("Shoes",),
        state={"price": {"max": 50.5}, "shown": ["p1"]},
    )
    async with conversations.turn("acme") as turn:
        assert turn.is_new
        assert await turn.history() == ()
        committed = await turn.commit(said)
    clock.advance(60)
    async with conversations.turn("acme", turn.conversation_id) as following:
        assert not following.is_new
        assert await following.history() == (committed,)
    assert (committed.number, committed.created_at) == (1, 1_000_000.0)
    assert (committed.query, committed.product_ids, committed.state) == (
        said.query,
        said.product_ids,
        said.state,
    )


async def test_the_model_gets_ten_turns_of_a_hundred_and_five_and_storage_keeps_a_hundred(
    conversations: Conversations,
) -> None:
    """Trimmed to 10 for the model and 100 for storage. Source: flow document, step 9."""
    conversation_id = await started(conversations)
    for number in range(2, 106):
        await say(conversations, conversation_id, f"turn {number}")
    async with conversations.turn("acme", conversation_id) as turn:
        assert [each.number for each in await turn.history()] == list(range(96, 106))
    kept = await conversations.read("acme", conversation_id)
    assert [each.number for each in kept.interactions] == list(range(6, 106))


async def test_turns_of_one_conversation_run_in_the_order_in_which_they_came(
    conversations: Conversations,
) -> None:
    """A turn that is asked for while another runs waits, and sees that one's outcome."""
    conversation_id = await started(conversations)
    seen: dict[str, list[str]] = {}
    entered = {name: asyncio.Event() for name in "abc"}
    may_end = asyncio.Event()

    async def shopper(name: str) -> None:
        async with conversations.turn("acme", conversation_id) as turn:
            entered[name].set()
            seen[name] = [each.query for each in await turn.history()]
            await may_end.wait()
            await turn.commit(Interaction(query=name))

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(shopper(name), name=name)
            await entered[name].wait()
        await until(lambda: "a" in seen)
        assert set(seen) == {"a"}
        may_end.set()
    assert seen == {"a": ["first"], "b": ["first", "a"], "c": ["first", "a", "b"]}


async def test_conversations_run_in_parallel(conversations: Conversations) -> None:
    """A turn that takes long holds up nobody else's."""
    first, second = await started(conversations), await started(conversations)
    async with asyncio.timeout(5), conversations.turn("acme", first) as slow:
        await slow.history()
        assert (await say(conversations, second, "quick")).number == 2


async def test_a_turn_that_gives_up_lets_the_next_one_in(conversations: Conversations) -> None:
    """Leaving without a commit, by an error, releases the lease at once and writes nothing."""
    conversation_id = await started(conversations)

    async def fail() -> None:
        async with conversations.turn("acme", conversation_id) as turn:
            await turn.history()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with asyncio.timeout(2):
        assert (await say(conversations, conversation_id, "next")).number == 2


async def test_a_cancelled_turn_lets_the_next_one_in(conversations: Conversations) -> None:
    """So does a shopper who goes away, first in line or waiting."""
    conversation_id = await started(conversations)
    holding, waiting = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with conversations.turn("acme", conversation_id) as turn:
            await turn.history()
            holding.set()
            await asyncio.Event().wait()

    async def wait_in_line() -> None:
        async with conversations.turn("acme", conversation_id) as turn:
            waiting.set()
            await turn.history()

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        holder = group.create_task(hold(), name="holder")
        await holding.wait()
        waiter = group.create_task(wait_in_line(), name="waiter")
        await waiting.wait()
        waiter.cancel()
        holder.cancel()
    async with asyncio.timeout(2):
        assert (await say(conversations, conversation_id, "next")).number == 2


async def test_a_turn_that_leaves_while_it_waits_lets_nobody_overtake(conversations: Conversations) -> None:
    """The third in line still waits for the first when the second goes away."""
    conversation_id = await started(conversations)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        async with conversations.turn("acme", conversation_id) as first:
            await first.history()
            async with conversations.turn("acme", conversation_id):
                third = group.create_task(say(conversations, conversation_id, "third"), name="third")
                await asyncio.sleep(0)
            for _ in range(20):
                await asyncio.sleep(0)
            assert not third.done()
            await first.commit(Interaction(query="first in line"))
        assert (await third).number == 3


async def test_a_turn_held_by_another_process_is_waited_for(config: ConversationConfig) -> None:
    """Two processes, one file: the second one's turn begins when the first one's has ended."""
    async with open_conversations(config) as here, open_conversations(config) as there:
        conversation_id = await started(here)
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            async with here.turn("acme", conversation_id) as mine:
                await mine.history()
                yours = group.create_task(say(there, conversation_id, "yours"), name="yours")
                await mine.commit(Interaction(query="mine"))
            assert (await yours).number == 3
        kept = await there.read("acme", conversation_id)
        assert [each.query for each in kept.interactions] == ["first", "mine", "yours"]


async def test_waiting_for_a_turn_ends(tmp_path: Path, clock: StandingClock) -> None:
    """A turn that cannot begin in time says so; the answer can go on without its history."""
    policy = ConversationPolicy(lease_wait_seconds=0.05)
    config = ConversationConfig(sqlite_path=tmp_path / "c.db", policy=policy)
    async with (
        open_conversations(config, clock=clock) as here,
        open_conversations(config, clock=clock) as there,
    ):
        conversation_id = await started(here)
        async with here.turn("acme", conversation_id) as mine:
            await mine.history()
            for elsewhere in (here, there):
                async with elsewhere.turn("acme", conversation_id) as yours:
                    with pytest.raises(ConversationBusy, match="has not ended in 0.05 s"):
                        await yours.history()
                    with pytest.raises(ConversationBusy):
                        await yours.commit(Interaction(query="yours"))
            assert (await mine.commit(Interaction(query="mine"))).number == 2


async def test_too_many_turns_of_one_conversation_are_refused(conversations: Conversations) -> None:
    """A client in a loop cannot fill the memory."""
    conversation_id = await started(conversations)
    async with asyncio.timeout(5):
        places = [conversations.turn("acme", conversation_id) for _ in range(MAX_WAITING + 1)]
        for place in places:
            await place.__aenter__()
        with pytest.raises(ConversationBusy, match="16 turns"):
            async with conversations.turn("acme", conversation_id):
                pass
        for place in places:
            await place.__aexit__(None, None, None)
    assert len(conversations.namespace) == 0


async def test_a_lease_taken_over_during_the_answer_is_noticed(
    config: ConversationConfig, clock: StandingClock
) -> None:
    """A turn that slept too long is fenced off; the other one's turn stands. Source: design, conversation."""
    async with (
        open_conversations(config, clock=clock) as here,
        open_conversations(config, clock=clock) as there,
    ):
        conversation_id = await started(here)
        async with here.turn("acme", conversation_id) as slow:
            await slow.history()
            clock.advance(config.policy.lease_seconds + 1)
            assert (await say(there, conversation_id, "quick")).number == 2
            with pytest.raises(LeaseLost):
                await slow.commit(Interaction(query="slow"))
        kept = await here.read("acme", conversation_id)
    assert [each.query for each in kept.interactions] == ["first", "quick"]


async def test_a_long_turn_keeps_its_lease_while_its_process_lives(
    tmp_path: Path, clock: StandingClock
) -> None:
    """Renewed in time, the lease shuts others out well beyond its own length."""
    policy = ConversationPolicy(lease_wait_seconds=0.05)
    config = ConversationConfig(sqlite_path=tmp_path / "c.db", policy=policy)
    async with (
        open_conversations(config, clock=clock) as here,
        open_conversations(config, clock=clock) as there,
    ):
        conversation_id = await started(here)
        async with here.turn("acme", conversation_id) as slow:
            await slow.history()
            for _ in range(5):
                clock.advance(policy.lease_seconds - 1)
                await here.leases.renew_all()
            async with there.turn("acme", conversation_id) as quick:
                with pytest.raises(ConversationBusy):
                    await quick.history()
            assert (await slow.commit(Interaction(query="slow"))).number == 2


async def test_entering_a_turn_and_knowing_its_id_waits_for_nothing(conversations: Conversations) -> None:
    """The first event of a stream never waits for storage: entering never yields to the loop."""
    entering = conversations.turn("acme").__aenter__()
    with pytest.raises(StopIteration) as entered:
        entering.send(None)
    assert len(entered.value.value.conversation_id) == 40


async def test_a_foreign_or_made_up_id_is_refused_before_anything_is_written(
    conversations: Conversations,
) -> None:
    """It looks the same whether the conversation is somebody else's or nobody's."""
    conversation_id = await started(conversations)
    for account, wanted in [
        ("rival", conversation_id),
        ("acme", "A" * 40),
        ("acme", ""),
        ("acme", "x" * 9999),
    ]:
        with pytest.raises(ConversationNotFound):
            async with conversations.turn(account, wanted):
                pass
        with pytest.raises(ConversationNotFound):
            await conversations.read(account, wanted)
        with pytest.raises(ConversationNotFound):
            await conversations.export(account, wanted)
        with pytest.raises(ConversationNotFound):
            await conversations.delete(account, wanted)
    assert await conversations.list("rival") == ()
    assert [line.conversation_id for line in await conversations.list("acme")] == [conversation_id]


async def test_an_id_is_good_in_every_process_and_after_a_restart(config: ConversationConfig) -> None:
    """The secret is the storage's, not the process's."""
    async with open_conversations(config) as here, open_conversations(config) as there:
        conversation_id = await started(here)
        assert (await say(there, conversation_id, "there")).number == 2
    async with open_conversations(config) as later:
        assert (await say(later, conversation_id, "later")).number == 3


async def test_a_deleted_conversation_is_in_no_file(conversations: Conversations, tmp_path: Path) -> None:
    """Its words are gone from database and log, not only from the tables."""
    conversation_id = await started(conversations)
    await say(conversations, conversation_id, "a very private Zanzibar wish")
    await conversations.read("acme", conversation_id)
    assert is_written(tmp_path, b"Zanzibar")
    await conversations.delete("acme", conversation_id)
    assert not is_written(tmp_path, b"Zanzibar")
    with pytest.raises(ConversationNotFound):
        await conversations.read("acme", conversation_id)
    with pytest.raises(ConversationNotFound):
        await conversations.delete("acme", conversation_id)
    assert await conversations.list("acme") == ()


async def test_an_export_holds_everything_as_json(conversations: Conversations) -> None:
    """What the owner gets is what is kept."""
    conversation_id = await started(conversations)
    async with conversations.turn("acme", conversation_id) as turn:
        await turn.commit(Interaction(query="q", product_ids=("p",), categories=("c",), state={"a": 1}))
    exported = json.loads(json.dumps(await conversations.export("acme", conversation_id)))
    assert exported["turns"] == 2
    assert exported["interactions"][1] == {
        "number": 2,
        "createdAt": 1_000_000.0,
        "query": "q",
        "summary": "",
        "productIds": ["p"],
        "categories": ["c"],
        "state": {"a": 1},
    }


async def test_the_list_has_bounds(conversations: Conversations) -> None:
    """A page out of range is refused with the range."""
    for limit in (0, MAX_LISTED + 1):
        with pytest.raises(ValueError, match="limit must be 1 to 100"):
            await conversations.list("acme", limit=limit)
    with pytest.raises(ValueError, match="offset must be"):
        await conversations.list("acme", offset=-1)


@pytest.mark.parametrize(
    ("interaction", "message"),
    [
        (Interaction(query="q", summary="x" * MAX_BYTES), "at most 65536 are kept"),
        (Interaction(query="q", product_ids=("p",) * (MAX_PRODUCT_IDS + 1)), "201 product ids"),
        (Interaction(query="q", categories=("c",) * 25), "25 categories"),
        (Interaction(query="q", state={"bad": object()}), "cannot be written as JSON"),
    ],
)
async def test_a_turn_over_its_limits_is_refused(
    conversations: Conversations, interaction: Interaction, message: str
) -> None:
    """The refusal names the part, and the turn can still be committed smaller."""
    async with conversations.turn("acme") as turn:
        with pytest.raises(InteractionTooLarge, match=message):
            await turn.commit(interaction)
        assert (await turn.commit(Interaction(query="smaller"))).number == 1


async def test_a_fitted_turn_is_within_its_limits(conversations: Conversations) -> None:
    """A page of hundreds of hits is no reason to lose the turn: the first of them are kept."""
    fitted = fitted_interaction(
        query="q" * 5000, summary="s" * 9000, product_ids=["p"] * 600, categories=["c"] * 30, state={"a": 1}
    )
    async with conversations.turn("acme") as turn:
        committed = await turn.commit(fitted)
    assert (len(committed.query), len(committed.summary)) == (1000, 4000)
    assert (len(committed.product_ids), len(committed.categories)) == (200, 24)


async def test_committing_twice_is_one_turn(conversations: Conversations) -> None:
    """The second call returns the first one's outcome."""
    async with conversations.turn("acme") as turn:
        first = await turn.commit(Interaction(query="once"))
        assert await turn.commit(Interaction(query="twice")) == first
    kept = await conversations.read("acme", turn.conversation_id)
    assert [each.query for each in kept.interactions] == ["once"]


async def test_objects_leave_memory_with_their_last_turn(conversations: Conversations) -> None:
    """An idle conversation costs nothing but its rows."""
    async with conversations.turn("acme") as turn:
        await turn.history()
        assert len(conversations.namespace) == 1
        assert repr(conversations.namespace) == "<Namespace 1 objects, 1 turns>"
        await turn.commit(Interaction(query="q"))
    assert len(conversations.namespace) == 0


async def test_an_error_inside_the_open_conversations_stays_what_it_was(config: ConversationConfig) -> None:
    """The alarms' task group does not wrap the caller's error."""
    with pytest.raises(KeyError):
        async with open_conversations(config):
            raise KeyError("mine")


def test_a_configuration_needs_a_place() -> None:
    """Neither a file nor a server is an error at once."""
    with pytest.raises(ValueError, match="sqlite_path or redis_url"):
        ConversationConfig()
