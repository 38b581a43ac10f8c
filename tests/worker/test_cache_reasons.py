"""One request per reason on a running server: receipt, log line and guide say the same word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cached_shop import GENEROUS, OTHER, QUERY, CachedShop, cached_shop

pytestmark = pytest.mark.anyio


async def _set(shop: CachedShop, **settings: Any) -> None:
    """Change the account's settings, as a merchant does."""
    office = shop.shop.services.office
    await office.administration.set_settings("demo", "demo", settings, actor="test")


async def test_a_question_that_nobody_has_asked_is_stored_then_hit(tmp_path: Path) -> None:
    """`not_stored` where the table was asked, `hit` afterwards."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        first = await shop.ask()
        await shop.settle()
        second = await shop.ask()
    assert (first.reason, first.steps) == ("not_stored", ("edge=miss", "filter=unbuilt", "table=miss"))
    assert (second.reason, second.tier, second.steps) == ("hit", "edge", ("edge=hit",))


async def test_where_the_filter_knows_better_the_table_is_not_asked(tmp_path: Path) -> None:
    """`never_stored`."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        await shop.ask()
        await shop.settle()
        await shop.shop.services.cache.rebuild_filter("demo", "demo")
        await shop.shop.services.cache.poll_changes()
        heard = await shop.ask(OTHER)
    assert (heard.reason, heard.steps) == ("never_stored", ("edge=miss", "filter=absent"))


async def test_an_answer_made_with_other_settings_is_outdated(tmp_path: Path) -> None:
    """`edge_outdated`, and the step names the tag."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        await shop.ask()
        await shop.settle()
        await _set(shop, agentic_config={"max_categories": 4})
        heard = await shop.ask()
        await shop.settle()
        again = await shop.ask()
    assert (heard.source, heard.reason) == ("llm", "edge_outdated")
    assert heard.steps == ("edge=outdated(shape)", "filter=added", "table=outdated(shape)")
    assert again.reason == "hit"


async def test_what_is_nobody_elses_is_not_looked_up(tmp_path: Path) -> None:
    """`conversation`, `key` and `session`, without a step."""
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        turn = await shop.ask(enableConversation="true", sessionId="s1", userId="u1")
        long = await shop.ask(f"{QUERY} {'暖' * 400}")
        await _set(shop, cached_query_percentage=0)
        outside = await shop.ask()
    assert [heard.reason for heard in (turn, long, outside)] == ["conversation", "key", "session"]
    assert all(heard.steps == () and heard.source == "llm" for heard in (turn, long, outside))


async def test_a_table_that_keeps_failing_is_left_alone(tmp_path: Path) -> None:
    """`table_error` five times, then `table_open`."""
    tmp_path.joinpath("cache.sqlite3").write_bytes(b"this is not a database" * 1000)
    async with cached_shop(tmp_path, **GENEROUS) as shop:
        heard = [(await shop.ask(f"{QUERY} {number}")).reason for number in range(6)]
    assert heard == ["table_error"] * 5 + ["table_open"]
