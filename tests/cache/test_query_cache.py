"""What a lookup finds, why it finds nothing, and what storing, pinning and dropping do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cache.decision import CacheDecision
from cache.edge_cache import EdgeKey, EdgeTimes
from cache.edge_values import SUGGESTION_TIMES
from cache.errors import InvalidKey
from cache.keys import QueryKey
from cache.query_cache import StoreReport
from cache.query_table import TableRow
from cache.sqlite_table import SqliteTable
from tests.support.cache_process import cache_process, settled
from tests.support.clocks import FakeClock

pytestmark = pytest.mark.anyio

KEY = QueryKey.of("acme", "shoes", "red running shoes")
TAGS = {"prompt": "v1", "model": "m"}


def _summary(decision: CacheDecision) -> tuple[str | None, str, list[str]]:
    return decision.tier, decision.reason, [str(step) for step in decision.steps]


async def test_what_was_stored_is_found_at_the_edge(tmp_path: Path) -> None:
    """The cheapest tier answers first. Source: flow document, step 3."""
    async with cache_process(tmp_path) as cache:
        assert await cache.store(KEY, b"plan", TAGS) == StoreReport(table="stored", edge="stored")
        decision = await cache.lookup(KEY, expect=TAGS)
        assert decision.entry is not None
        assert (decision.entry.payload, dict(decision.entry.tags)) == (b"plan", TAGS)
        assert _summary(decision) == ("edge", "hit", ["edge=hit"])


async def test_what_another_process_has_stored_is_found_in_the_table_and_promoted(tmp_path: Path) -> None:
    """The second lookup does not ask the table again."""
    async with cache_process(tmp_path) as one, cache_process(tmp_path) as two:
        await one.store(KEY, b"plan", TAGS)
        assert _summary(await two.lookup(KEY)) == (
            "table",
            "hit",
            ["edge=miss", "filter=unbuilt", "table=hit"],
        )
        await settled(two)
        assert _summary(await two.lookup(KEY)) == ("edge", "hit", ["edge=hit"])


async def test_a_question_that_was_never_stored_ends_at_the_filter(tmp_path: Path) -> None:
    """No table read for what nobody has cached. Source: flow document, step 3."""
    async with cache_process(tmp_path) as cache:
        await cache.rebuild_filter("acme", "shoes")
        await cache.lookup(KEY)
        await cache.poll_changes()
        assert _summary(await cache.lookup(KEY)) == (None, "never_stored", ["edge=miss", "filter=absent"])


async def test_a_question_without_a_filter_is_asked_of_the_table(tmp_path: Path) -> None:
    """A missing filter costs a read and nothing else."""
    async with cache_process(tmp_path) as cache:
        expected = (None, "not_stored", ["edge=miss", "filter=unbuilt", "table=miss"])
        assert _summary(await cache.lookup(KEY)) == expected


async def test_an_answer_of_another_prompt_is_a_miss_that_names_the_tag(tmp_path: Path) -> None:
    """Entries go stale when the prompt version or the settings that shape them change."""
    async with cache_process(tmp_path) as cache:
        await cache.store(KEY, b"plan", TAGS)
        decision = await cache.lookup(KEY, expect={**TAGS, "prompt": "v2"})
        assert _summary(decision) == (
            None,
            "edge_outdated",
            ["edge=outdated(prompt)", "filter=added", "table=outdated(prompt)"],
        )
        await cache.store(KEY, b"new plan", {**TAGS, "prompt": "v2"})
        assert (await cache.lookup(KEY, expect={**TAGS, "prompt": "v2"})).is_hit


async def test_a_stale_answer_is_served_while_one_caller_reads_the_table_again(tmp_path: Path) -> None:
    """Refreshing re-reads the table before it asks the model. Source: design, decision 14."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        await cache.store(KEY, b"plan", TAGS)
        clock.advance(4000)
        asked = 0

        async def refresh() -> None:
            nonlocal asked
            asked += 1

        for _ in range(20):
            decision = await cache.lookup(KEY, refresh=refresh)
            assert decision.is_hit
        await settled(cache)
        assert asked == 0
        assert _summary(await cache.lookup(KEY))[1:] == ("hit", ["edge=hit"])


async def test_a_stale_answer_that_the_table_has_lost_is_answered_anew_once_per_lease(tmp_path: Path) -> None:
    """A failing model is asked once a minute, whatever the traffic. Source: design, decision 14."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock, entry_seconds=1800) as cache:
        await cache.store(KEY, b"plan", TAGS)
        clock.advance(4000)
        asked = 0

        async def refresh() -> None:
            nonlocal asked
            asked += 1
            raise RuntimeError("the model is down")

        for _ in range(20):
            assert _summary(await cache.lookup(KEY, refresh=refresh))[1] == "stale"
        await settled(cache)
        assert asked == 1


async def test_a_refresh_that_stores_makes_the_answer_fresh(tmp_path: Path) -> None:
    """The next shopper gets the new answer."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock, entry_seconds=1800) as cache:
        await cache.store(KEY, b"old", TAGS)
        clock.advance(4000)

        async def refresh() -> None:
            await cache.store(KEY, b"new", TAGS)

        await cache.lookup(KEY, refresh=refresh)
        await settled(cache)
        decision = await cache.lookup(KEY)
        assert decision.entry is not None
        assert (decision.entry.payload, decision.reason) == (b"new", "hit")


async def test_a_pinned_answer_outlives_prompts_models_and_later_answers(tmp_path: Path) -> None:
    """A merchant's approved answer stays until it is removed."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        await cache.pin(KEY, b"approved", TAGS)
        assert await cache.store(KEY, b"model", TAGS) == StoreReport(table="kept", edge="kept")
        clock.advance(100 * 86_400)
        decision = await cache.lookup(KEY, expect={"prompt": "v99"})
        assert decision.entry is not None
        assert decision.entry.payload == b"approved"
        assert await cache.delete(KEY)
        assert not (await cache.lookup(KEY)).is_hit


async def test_a_pin_and_a_deletion_reach_other_processes_with_their_next_poll(tmp_path: Path) -> None:
    """Their edge copies are let go, so that the approved answer is served everywhere within 5 s."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as one, cache_process(tmp_path, clock) as two:
        await one.store(KEY, b"model")
        assert (await two.lookup(KEY)).is_hit
        await settled(two)
        await two.poll_changes()
        clock.advance(1)
        await one.pin(KEY, b"approved")
        await two.poll_changes()
        decision = await two.lookup(KEY)
        assert decision.entry is not None
        assert decision.entry.payload == b"approved"
        await settled(two)
        clock.advance(1)
        await one.delete(KEY)
        await two.poll_changes()
        assert not (await two.lookup(KEY)).is_hit


async def test_a_pin_reaches_a_process_that_only_ever_hits_its_edge(tmp_path: Path) -> None:
    """Edge hits keep their index up to date too, however long nobody has asked the filter."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as one, cache_process(tmp_path, clock) as two:
        times = EdgeTimes(fresh_seconds=86_400, max_age_seconds=86_400)
        await two.store(KEY, b"model")
        found = await two._tiers.edge.get(EdgeKey("acme", "query", KEY.text))
        assert found is not None
        await two._tiers.edge.put(EdgeKey("acme", "query", KEY.text), found.value, times)
        for _ in range(10):
            clock.advance(3600)
            assert (await two.lookup(KEY)).tier == "edge"
            await two.poll_changes()
        await one.pin(KEY, b"approved")
        await two.poll_changes()
        decision = await two.lookup(KEY)
        assert decision.entry is not None
        assert decision.entry.payload == b"approved"


async def test_an_answer_that_a_pin_keeps_out_takes_the_old_one_with_it(tmp_path: Path) -> None:
    """A process that learns of a pin by storing serves it at once, not after its next poll."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as one, cache_process(tmp_path, clock) as two:
        await two.store(KEY, b"model")
        clock.advance(1)
        await one.pin(KEY, b"approved")
        assert (await two.store(KEY, b"model again")).table == "kept"
        decision = await two.lookup(KEY)
        assert decision.entry is not None
        assert decision.entry.payload == b"approved"


async def test_a_dropped_account_loses_its_small_values_everywhere(tmp_path: Path) -> None:
    """Suggestions speak of the account's products too."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as one, cache_process(tmp_path, clock) as two:
        for cache in (one, two):
            await cache.edge.put("acme", "suggestions", "p1", b"[]", SUGGESTION_TIMES)
        await one.drop_account("acme")
        await two.poll_changes()
        assert await one.edge.get("acme", "suggestions", "p1") is None
        assert await two.edge.get("acme", "suggestions", "p1") is None


async def test_a_dropped_account_is_missed_at_once_here_and_with_the_next_poll_elsewhere(
    tmp_path: Path,
) -> None:
    """Whatever still lies in a tier from before is refused; others keep theirs."""
    clock = FakeClock()
    rival = QueryKey.of("rival", "shoes", "red running shoes")
    async with cache_process(tmp_path, clock) as one, cache_process(tmp_path, clock) as two:
        for key in (KEY, rival):
            await one.store(key, b"plan")
            assert (await two.lookup(key)).is_hit
        await settled(two)
        clock.advance(1)
        assert await one.drop_account("acme") == 1
        assert not (await one.lookup(KEY)).is_hit
        await two.poll_changes()
        assert not (await two.lookup(KEY)).is_hit
        assert (await one.lookup(rival)).is_hit
        assert (await two.lookup(rival)).is_hit
        clock.advance(1)
        await one.store(KEY, b"after")
        assert (await one.lookup(KEY)).is_hit


async def test_an_answer_from_before_a_drop_is_refused_wherever_it_turns_up(tmp_path: Path) -> None:
    """A row that was being written during the drop does not bring the answer back."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        await cache.store(KEY, b"plan")
        table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=10_000_000, clock=clock)
        row = await table.get(KEY)
        assert row is not None
        clock.advance(1)
        await cache.drop_account("acme")
        await table.put(KEY, TableRow(entry=row.entry, written_at_ms=row.written_at_ms, expires_at=None))
        await table.close()
        assert _summary(await cache.lookup(KEY))[1] == "table_dropped"


async def test_a_foreign_entry_in_the_table_is_a_miss(tmp_path: Path) -> None:
    """An answer under another account's key is never served. Source: security."""
    async with cache_process(tmp_path) as cache:
        await cache.store(KEY, b"plan")
        table = SqliteTable(tmp_path / "cache.sqlite3", max_bytes=10_000_000)
        row = await table.get(KEY)
        assert row is not None
        rival = QueryKey.of("rival", "shoes", "red running shoes")
        await table.put(rival, row)
        await table.close()
        assert _summary(await cache.lookup(rival))[:2] == (None, "table_damaged")


async def test_a_foreign_entry_at_the_edge_is_a_miss_and_is_removed(tmp_path: Path) -> None:
    """The next lookup does not meet it again."""
    async with cache_process(tmp_path) as cache:
        edge = cache._tiers.edge
        await edge.put(EdgeKey("acme", "query", KEY.text), b"rubbish", EdgeTimes())
        assert _summary(await cache.lookup(KEY))[1] == "edge_damaged"
        assert _summary(await cache.lookup(KEY))[1] == "not_stored"


async def test_an_answer_that_is_too_large_is_reported_and_not_stored(tmp_path: Path) -> None:
    """Item over 400 KB: the shopper has the answer, the cache says why it has none."""
    async with cache_process(tmp_path) as cache:
        report = await cache.store(KEY, bytes(400_001))
        assert report == StoreReport(table="too_large", edge="too_large")
        assert not (await cache.lookup(KEY)).is_hit


async def test_the_log_object_answers_why_by_itself(tmp_path: Path) -> None:
    """One line is enough to say what happened. Source: docs/caching.md."""
    async with cache_process(tmp_path) as cache:
        logged = (await cache.lookup(KEY)).as_log()
        assert logged.pop("ms") > 0
        assert logged == {
            "hit": False,
            "tier": None,
            "reason": "not_stored",
            "key": "acme#shoes#red running shoes",
            "steps": ["edge=miss", "filter=unbuilt", "table=miss"],
        }


async def test_small_values_share_the_edge_cache_with_times_of_their_own(tmp_path: Path) -> None:
    """Chat suggestions live thirty days. Source: flow document, chat suggestions."""
    clock = FakeClock()
    async with cache_process(tmp_path, clock) as cache:
        assert await cache.edge.put("acme", "suggestions", "p1", b"[]", SUGGESTION_TIMES)
        clock.advance(29 * 86_400)
        assert await cache.edge.get("acme", "suggestions", "p1") == b"[]"
        assert await cache.edge.get("rival", "suggestions", "p1") is None
        clock.advance(2 * 86_400)
        assert await cache.edge.get("acme", "suggestions", "p1") is None
        with pytest.raises(InvalidKey):
            await cache.edge.get("acme", "query", KEY.text)


async def test_the_counters_tell_hits_misses_and_false_positives(tmp_path: Path) -> None:
    """What `/metrics` shows."""
    async with cache_process(tmp_path) as cache:
        await cache.store(KEY, b"plan")
        await cache.lookup(KEY)
        await cache.lookup(QueryKey.of("acme", "shoes", "other"))
        stats = cache.stats()
        assert stats["counts"]["edge"] == {"hit": 1, "miss": 1}
        assert stats["counts"]["store"] == {"stored": 1}
        assert stats["filter_false_positive_rate"] is None
        assert stats["open"] == []


async def test_equal_lookups_at_once_read_the_table_once(tmp_path: Path) -> None:
    """A burst of one question is one read."""
    async with cache_process(tmp_path) as one, cache_process(tmp_path) as two:
        await one.store(KEY, b"plan")
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            for number in range(100):
                group.create_task(two.lookup(KEY), name=f"lookup:{number}")
        counts = two.stats()["counts"]["table"]
        assert (counts["reads"], counts["hit"]) == (1, 100)
