"""A follower costs bounded memory, nobody's time, and nothing when there is none."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack, aclosing

import pytest

from tests.worker.tail.completions import completion
from worker.observe.observers import Observers
from worker.tail.followers import MAX_FOLLOWERS, MAX_LINES_A_SECOND, CannotFollow, Followers
from worker.tail.tail_filter import TailFilter, read_tail_filter

pytestmark = pytest.mark.anyio


async def test_nobody_listens_when_nobody_follows() -> None:
    """The observer comes with the first follower and goes with the last."""
    observers = Observers()
    followers = Followers(observers)
    with followers.following(TailFilter()):
        with followers.following(TailFilter()):
            assert observers.names == ("tail",)
        assert observers.names == ("tail",)
    assert not observers.names


async def test_a_burst_is_sampled_and_says_so() -> None:
    """10,000 requests at once: as many as a second may show, and the count of the others."""
    observers = Observers()
    followers = Followers(observers)
    with followers.following(TailFilter()) as follower:
        for number in range(10_000):
            observers.observe(completion(run_id=f"run{number}"))
        shown, skipped = 0, 0
        async with asyncio.timeout(10), aclosing(follower.lines(15)) as batches:
            async for lines in batches:
                for line in map(json.loads, lines):
                    if line["event"] == "tail_sampled":
                        skipped += line["skipped"]
                    else:
                        shown += 1
                if skipped:
                    break
    assert (shown, skipped) == (MAX_LINES_A_SECOND, 10_000 - MAX_LINES_A_SECOND)


async def test_each_follower_gets_its_own_lines_and_no_key_is_in_them() -> None:
    """One asks for errors, one for a text; a key that strayed into a query is scrubbed."""
    observers = Observers()
    followers = Followers(observers)
    key = "sk_0123456789ab_" + "c" * 40
    with (
        followers.following(read_tail_filter([("status", "error")])) as errors,
        followers.following(read_tail_filter([("search", "RED MUG")])) as mugs,
    ):
        observers.observe(completion(outcome="error", error="internal"))
        observers.observe(completion(query=f"red mug {key}"))
        got = []
        for follower in (errors, mugs):
            async with asyncio.timeout(5), aclosing(follower.lines(15)) as batches:
                got.append(await anext(batches))
    assert [json.loads(line)["outcome"] for line in got[0]] == ["error"]
    assert len(got[1]) == 1
    assert b"red mug" in got[1][0]
    assert key.encode() not in got[1][0]


async def test_a_quiet_tail_pings_and_ends_when_the_server_stops() -> None:
    """An empty list is a ping; `end` is the end."""
    followers = Followers(Observers())
    with followers.following(TailFilter()) as follower:
        async with asyncio.timeout(5), aclosing(follower.lines(0.01)) as batches:
            assert await anext(batches) == []
            followers.end()
            assert [lines async for lines in batches if lines] == []


async def test_one_follower_too_many_is_refused() -> None:
    """Each follower costs every request; there is an end to it."""
    followers = Followers(Observers())
    with ExitStack() as stack:
        for _ in range(MAX_FOLLOWERS):
            stack.enter_context(followers.following(TailFilter()))
        with pytest.raises(CannotFollow, match="32 follow already"):
            stack.enter_context(followers.following(TailFilter()))
