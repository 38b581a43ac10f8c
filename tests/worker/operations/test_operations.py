"""Minutes, days and money of an account: counted once, bounded, kept over restarts, nobody else's."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import orjson
import pytest

from tests.support.cached_shop import PLAN
from tests.support.scripted_gemini.scenarios import json_text, stalled
from tests.support.shop import AGENTIC, open_shop
from tests.worker.tail.completions import completion
from tests.worker.test_agentic_search import modelled_shop
from worker.operations.days import Days
from worker.operations.minutes import KEPT_MINUTES, MAX_ACCOUNTS, Minutes, merged_minutes
from worker.operations.prices import PricesUnreadable, read_prices

pytestmark = pytest.mark.anyio

SUMMARY = "/api/v1/ops/summary"
QUERY = "something warm for cold nights outside"


def test_minutes_are_counted_by_account_and_bounded() -> None:
    """Three hours of a hundred accounts; a clock that jumps back loses nothing new."""
    minutes, now = Minutes(), 1_000_000_000.0
    for number in range(KEPT_MINUTES + 50):
        minutes.observe(completion(at=now + 60 * number))
    minutes.observe(completion(at=now - 86_400))
    assert len(minutes.of("shop", 0)) == KEPT_MINUTES
    for number in range(MAX_ACCOUNTS):
        minutes.observe(completion(account=f"other{number}", at=now))
    assert minutes.of("shop", 0) == []
    assert len(minutes.of("other7", 0)) == 1


def test_minutes_of_two_processes_are_one() -> None:
    """Counts add up; percentiles come from both processes' durations."""
    one, other = Minutes(), Minutes()
    for _ in range(9):
        one.observe(completion(at=120.0, timings={"E2E": 3.0}))
    other.observe(completion(at=125.0, source="cached", timings={"E2E": 900.0}, tokens={"input": 7}))
    other.observe(completion(at=125.0, purpose="refresh"))
    (minute,) = merged_minutes([one.of("shop", 0), other.of("shop", 0)])
    assert minute["sources"] == {"llm": 9, "cached": 1}
    assert (minute["p50"], minute["p95"], minute["tokens"]) == (5.0, 1280.0, 7)


async def test_days_survive_a_restart_and_a_disk_that_fails(tmp_path: Path) -> None:
    """What could not be written waits; what was written is read by the next process."""
    folder = tmp_path / "data"
    tokens = {"input": 100, "output": 20, "thoughts": 3, "cached": 40}
    days = Days(folder / "days.sqlite3")
    days.observe(completion(model="m", tokens=tokens, at=time.time()))
    await days.write()
    folder.rename(tmp_path / "away")
    folder.write_text("no folder")
    days.observe(completion(model="m", tokens=tokens, at=time.time()))
    await days.write()
    folder.unlink()
    shutil.move(tmp_path / "away", folder)
    await days.write()
    (day,) = await Days(folder / "days.sqlite3").of("shop")
    assert (day["requests"], day["tokens"]) == (2, {name: 2 * count for name, count in tokens.items()})
    assert await days.of("another") == []


def test_money_is_counted_by_the_table_and_unknown_models_cost_nothing_known() -> None:
    """Cached input apart, thoughts as output."""
    prices = read_prices(None)
    tokens = {"input": 1_000_000, "cached": 0, "output": 100_000, "thoughts": 100_000}
    assert prices.cost("gemini-3.5-flash-lite", tokens) == pytest.approx(0.30 + 0.2 * 2.50)
    assert prices.cost("a model of our own", tokens) is None


@pytest.mark.parametrize(
    "text", ["{", '{"models": {}}', '{"date": "x", "currency": "EUR", "models": {"m": {"input": -1}}}']
)
def test_a_table_of_prices_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    """The server does not start with wrong prices."""
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(PricesUnreadable, match="expected"):
        read_prices(path)


async def test_the_summary_shows_an_accounts_requests_tokens_and_money(tmp_path: Path) -> None:
    """Sources, stages, the slowest, days with money; hashes unless the account logs its queries."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: json_text(PLAN)
        await shop.stream(QUERY)
        await shop.stream("red mug")
        answer = await shop.client.get(SUMMARY)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    seen = answer.json()
    sources: dict[str, int] = {}
    for minute in seen["minutes"]:
        for name, count in minute["sources"].items():
            sources[name] = sources.get(name, 0) + count
    assert sources == {"llm": 1, "short_query_bypass": 1}
    assert seen["stages"]["LLM_FIRST_CALL"]["count"] == 1
    assert [each["query"] for each in seen["slowest"]] == [None, None]
    assert seen["slowest"][0]["ms"] >= seen["slowest"][1]["ms"]
    (day,) = seen["days"]
    assert day["model"] == "gemini-3.5-flash-lite"
    assert day["money"] > 0
    assert seen["prices"]["date"] == "2026-07-21"


async def test_an_account_sees_itself_alone_and_an_operator_anybody(tmp_path: Path) -> None:
    """Refusals name what would be right; nothing of the other account is in any byte."""
    async with open_shop(tmp_path) as shop:
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        mine = await office.keys.create("mine", "secret", {}, actor="test")
        narrow = await office.keys.create("mine", "secret", {"indexes": ["a"]}, actor="test")
        operator = await office.keys.create("mine", "secret", {"operator": True}, actor="test")
        await shop.stream("red mug")

        async def asked(token: str, **parameters: str) -> tuple[int, bytes]:
            headers = {"authorization": f"Bearer {token}"}
            answer = await shop.client.get(SUMMARY, params=parameters, headers=headers)
            return answer.status_code, answer.content

        own = await asked(mine.token)
        assert (own[0], orjson.loads(own[1])["minutes"]) == (200, [])
        assert (await asked(mine.token, account="demo"))[0] == 403
        assert (await asked(narrow.token))[0] == 403
        assert orjson.loads((await asked(operator.token, account="demo"))[1])["minutes"]
        assert b"no number from 1 to 180" in (await asked(mine.token, minutes="0"))[1]
        assert b"'days' is unknown" in (await asked(mine.token, days="3"))[1]


async def test_an_accounts_open_streams_are_its_own(tmp_path: Path) -> None:
    """What other shops are doing right now is not told by a count either."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        gemini.choose = lambda _: stalled()
        office = shop.services.office
        await office.administration.create_account("mine", actor="test")
        mine = await office.keys.create("mine", "secret", {}, actor="test")
        async with shop.client.stream("GET", AGENTIC, params={"q": QUERY}) as answer:
            await anext(answer.aiter_bytes())
            theirs = (await shop.client.get(SUMMARY)).json()
            own = (await shop.client.get(SUMMARY, headers={"authorization": f"Bearer {mine.token}"})).json()
    assert (theirs["openStreams"], theirs["runs"]) == (1, 1)
    assert (own["openStreams"], own["runs"]) == (0, 0)
