"""Storage in trouble: the answer still streams, the receipt carries the warning, the log says why.

And the gate: what was committed is what a stream's end stands for.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.conversation.redis_process import redis_process
from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Call, Gate, Script
from tests.support.scripted_gemini.scenarios import whole_call
from tests.support.scripted_gemini.steps import Wait
from tests.support.shop import open_shop
from tests.support.talk import CONVERSATIONS, CONVERSE, Said, Talk
from tests.worker.test_agentic_search import modelled_shop

pytestmark = pytest.mark.anyio

TENTS = whole_call({"query_expansions": [["tent", "Tents", 0.9, ""]], "summary": "Tents."})
DATABASE = "conversations.sqlite3"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's write lock, as another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def arriving(arrived: asyncio.Event, script: Script) -> Callable[[Call], Script]:
    """Answer with the script and say that the call is there, history read and lease taken."""

    def choose(_: Call) -> Script:
        arrived.set()
        return script

    return choose


def _not_kept(said: Said, kind: str) -> None:
    assert said.hits
    assert said.text
    assert said.receipt["turn"] is None
    assert f"conversation_not_kept:{kind}" in said.receipt["warnings"]
    assert said.names[-1] == "stream-end"


async def test_a_damaged_file_costs_the_memory_and_not_the_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every turn says so; moved away, turns are kept again without a restart."""
    (tmp_path / DATABASE).write_bytes(b"this was a database once" * 500)
    async with open_shop(tmp_path) as shop:
        said = await Talk(shop.client).say("show me tents")
        _not_kept(said, "StorageDamaged")
        assert "conversation_not_loaded:StorageDamaged" in said.receipt["warnings"]
        told = [record for record in caplog.records if record.message == "conversation_not_kept"]
        assert DATABASE in vars(told[0])["reason"]
        listed = await shop.client.get(CONVERSATIONS)
        assert (listed.status_code, listed.json()["code"]) == (502, "upstream_failed")
        (tmp_path / DATABASE).rename(tmp_path / "damaged")
        assert (await Talk(shop.client).say("show me tents")).receipt["turn"] == 1


async def test_a_full_file_costs_the_memory_and_not_the_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Turns are answered and not kept, reading goes on, and a deleted conversation makes room."""
    async with open_shop(tmp_path, conversations_max_bytes=150_000) as shop:
        kept, said = [], await Talk(shop.client).say("show me tents")
        while said.receipt["turn"] is not None:
            talk = Talk(shop.client)
            said = await talk.say("show me tents")
            kept.append(talk)
        _not_kept(said, "StorageFull")
        told = [record for record in caplog.records if record.message == "conversation_not_kept"]
        assert "full" in vars(told[0])["reason"]
        assert len((await kept[0].stored())["interactions"]) == 1
        for talk in kept[:-1]:
            gone = await shop.client.delete(f"{CONVERSATIONS}/{talk.conversation_id}")
            assert gone.status_code in (200, 204)
        assert (await Talk(shop.client).say("show me tents")).receipt["turn"] == 1


async def test_a_locked_file_costs_the_memory_and_not_the_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """From the first event on; when the other program is done, the conversation goes on."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        assert (await talk.say("show me tents")).receipt["turn"] == 1
        with locked(tmp_path / DATABASE):
            said = await talk.say("show me boots")
        _not_kept(said, "StorageLocked")
        assert "conversation_not_loaded:StorageLocked" in said.receipt["warnings"]
        told = [record for record in caplog.records if record.message == "conversation_not_loaded"]
        assert "locked" in vars(told[0])["reason"]
        assert (await talk.say("show me boots")).receipt["turn"] == 2


async def test_a_turn_that_cannot_be_committed_says_so_before_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The file is locked between history and commit; the next turn does not know of this one."""
    gate, arrived = Gate("model"), asyncio.Event()
    caplog.set_level(logging.WARNING)
    async with modelled_shop(tmp_path) as (shop, gemini):
        talk = Talk(shop.client)
        gemini.script(TENTS)
        await talk.say("tents")
        gemini.choose = arriving(arrived, [Wait(gate), *TENTS])
        body = talk.body("more tents")
        async with asyncio.timeout(20), shop.client.stream("POST", CONVERSE, json=body) as response:
            events: list[Frame] = []
            stream = frames(response)
            events.append(await anext(stream))
            await arrived.wait()
            with locked(tmp_path / DATABASE):
                gate.open()
                events += [frame async for frame in stream]
        _not_kept(Said(events), "StorageLocked")
        assert [turn["query"] for turn in (await talk.stored())["interactions"]] == ["tents"]
        gemini.choose = lambda _: TENTS
        assert (await talk.say("tents again")).receipt["turn"] == 2
    assert "conversation_not_kept" in caplog.messages


async def test_redis_gone_costs_the_memory_and_not_the_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Between two turns; while it is there, two processes would share the conversation."""
    with redis_process() as server:
        async with open_shop(tmp_path, redis_url=server.url) as shop:
            talk = Talk(shop.client)
            assert (await talk.say("show me tents")).receipt["turn"] == 1
            assert not (tmp_path / DATABASE).exists()
            server.kill()
            said = await talk.say("show me boots")
            assert said.hits
            assert said.receipt["turn"] is None
            assert said.names[-1] == "stream-end"
            assert any(
                warning.startswith("conversation_not_kept:Storage") for warning in said.receipt["warnings"]
            )
            told = [record for record in caplog.records if record.message == "conversation_not_kept"]
            assert vars(told[0])["reason"]


async def test_a_turn_that_is_stopped_keeps_what_it_had_said(tmp_path: Path) -> None:
    """Its end follows like any other, so it has to stand for the same. Source: design 16."""
    gate = Gate("never")
    async with modelled_shop(tmp_path, model_call_seconds=30, model_total_seconds=30) as (shop, gemini):
        talk = Talk(shop.client)
        gemini.script(TENTS)
        await talk.say("tents")
        gemini.script([Wait(gate), *TENTS])
        body = talk.body("more tents")
        async with asyncio.timeout(20), shop.client.stream("POST", CONVERSE, json=body) as response:
            stream = frames(response)
            first = await anext(stream)
            run_id = first.id.rpartition("-")[0]
            stopped = await shop.client.delete(f"/api/v1/indexes/demo/runs/{run_id}")
            rest = [frame async for frame in stream]
        assert stopped.status_code == 204
        assert rest[-1].name == "stream-end"
        assert Said([first, *rest]).receipt["turn"] is None
        gemini.script(TENTS)
        again = await talk.say("tents again")
    assert again.receipt["turn"] == 2


async def test_a_conversation_deleted_while_its_turn_runs_is_not_written_again(tmp_path: Path) -> None:
    """Deleting wins: the turn says that it was not kept. Source: docs/conversations.md, rights."""
    gate, arrived = Gate("model"), asyncio.Event()
    async with modelled_shop(tmp_path) as (shop, gemini):
        talk = Talk(shop.client)
        gemini.script(TENTS)
        await talk.say("tents")
        gemini.choose = arriving(arrived, [Wait(gate), *TENTS])
        address = f"{CONVERSATIONS}/{talk.conversation_id}"
        async with (
            asyncio.timeout(20),
            shop.client.stream("POST", CONVERSE, json=talk.body("more tents")) as response,
        ):
            stream = frames(response)
            first = await anext(stream)
            await arrived.wait()
            assert (await shop.client.delete(address)).status_code == 204
            gate.open()
            said = Said([first, *[frame async for frame in stream]])
        _not_kept(said, "LeaseLost")
        assert (await shop.client.get(address)).status_code == 404
