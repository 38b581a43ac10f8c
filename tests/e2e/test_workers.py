"""Several worker processes behind one socket are one server. Source: docs/ops.md, several workers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.event_stream import Frame, frames
from tests.support.scripted_gemini import Gate, ScriptedGemini
from tests.support.scripted_gemini.scenarios import gated_text
from tests.support.server_process import ServerProcess, server_process
from tests.support.shop import AGENTIC, products, settings_for
from tests.worker.observe.test_metrics import values
from worker.bootstrap import open_services

pytestmark = pytest.mark.anyio

SEARCH = "/api/v1/indexes/demo/search"
WINTER = "something warm for a winter camping trip"


@asynccontextmanager
async def small_server(folder: Path, **settings: str) -> AsyncIterator[ServerProcess]:
    """Run `aisle serve`, open on the loopback, over the small shop of the tests."""
    async with open_services(settings_for(folder / "data")) as services:
        await services.catalog.add_documents("demo", "demo", products())
    async with server_process(folder, "serve", demo="true", **settings) as server:
        yield server


def workers_of(server: ServerProcess) -> list[int]:
    """Return the process ids of a server's workers."""
    pid = server.process.pid
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def total(seen: dict[str, float], series: str) -> float:
    """Return the sum of what all workers have counted in the series that begin so."""
    return sum(value for name, value in seen.items() if name.startswith(series))


async def fresh_get(server: ServerProcess, path: str, **headers: str) -> httpx.Response:
    """GET over a connection of its own, which any worker may accept."""
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as client:
        return await client.get(path, headers=headers)


async def eventually(is_so: Callable[[], bool]) -> None:
    """Return once something is so; a bounded number of looks."""
    for _ in range(600):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never was")


async def until(server: ServerProcess, said: Callable[[dict[str, float]], bool]) -> dict[str, float]:
    """Return the metrics once they say so; a bounded number of looks."""
    for _ in range(200):
        try:
            seen = values((await fresh_get(server, "/metrics")).text)
        except httpx.TransportError:
            seen = {}
        if said(seen):
            return seen
        await asyncio.sleep(0.05)
    raise AssertionError("the metrics never said so")


async def test_limits_runs_and_metrics_are_the_servers_and_not_a_workers(tmp_path: Path) -> None:
    """A key's burst is one burst, a run is found from every worker, counts add up."""
    async with asyncio.timeout(120), small_server(tmp_path, workers="2") as server:
        assert len(workers_of(server)) == 2
        run = await _finished_run(server)
        seen = await _resume_until_a_peer_has_it(server, run)
        assert seen["aisle_worker_processes"] == 2
        assert seen["aisle_ready_processes"] == 2
        key = await _key(server, requests_per_minute=40)
        before = values((await fresh_get(server, "/metrics")).text)
        answers = await _ask_many(server, key, 40)
        assert answers.count(200) == 10
        assert answers.count(429) == 30
        seen = values((await fresh_get(server, "/metrics")).text)
        answered = 'aisle_requests_total{path="search",source="search",outcome="ok"'
        assert total(seen, answered) - total(before, answered) == 10
        assert total(seen, 'aisle_rate_limited_total{scope="key"') == 30


async def _finished_run(server: ServerProcess) -> str:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        answer = await client.get(AGENTIC, params={"q": WINTER})
    assert "event: stream-end" in answer.text
    return str(answer.headers["x-aisle-run-id"])


async def _resume_until_a_peer_has_it(server: ServerProcess, run: str) -> dict[str, float]:
    """Come back over new connections, some at a time, until each worker was reached by one."""
    texts: set[str] = set()

    async def resume() -> None:
        answer = await fresh_get(server, AGENTIC, **{"last-event-id": f"{run}-1"})
        assert answer.status_code == 200
        texts.add(answer.text)

    for _ in range(10):
        async with asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(resume(), name=f"resume:{number}")
        seen = values((await fresh_get(server, "/metrics")).text)
        if all(total(seen, f'aisle_resumes_total{{result="{result}"') for result in ("here", "at_peer")):
            assert len(texts) == 1
            unknown = await fresh_get(server, AGENTIC, **{"last-event-id": f"{'f' * 24}-1"})
            assert unknown.status_code == 204
            return seen
    raise AssertionError("no connection landed on the other worker")


async def _key(server: ServerProcess, **rights: int) -> str:
    """Return a key that every worker knows."""
    tokens = []
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as client:
        for wanted in (rights, {}):
            body = {"kind": "publishable", "rights": wanted}
            answer = await client.post("/api/v1/admin/keys", json=body)
            assert answer.status_code == 201, answer.text
            tokens.append(answer.json()["key"])
    key, made_later = tokens
    # Workers hear of keys in the order of their making; to ask with the first would use its allowance.
    known = 0
    while known < 12:
        answer = await fresh_get(server, f"{SEARCH}?q=tent", **{"x-api-key": made_later})
        known = known + 1 if answer.status_code == 200 else 0
        await asyncio.sleep(0.02)
    return str(key)


async def _ask_many(server: ServerProcess, key: str, count: int) -> list[int]:
    answers: list[int] = []

    async def ask() -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            answer = await client.post(SEARCH, json={"q": "tent"}, headers={"x-api-key": key})
            answers.append(answer.status_code)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(ask(), name=f"ask:{number}")
    return answers


async def test_conversations_and_loads_are_right_whichever_worker_answers(tmp_path: Path) -> None:
    """Turns of one conversation over any worker are numbered without a gap; a load is seen by all at once."""
    async with asyncio.timeout(120), small_server(tmp_path, workers="2") as server:
        first = await _turn(server, "show me tents")
        turns: list[int] = []

        async def say(sentence: str) -> None:
            receipt = await _turn(server, sentence, str(first["conversationId"]))
            turns.append(receipt["turn"])

        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(say(f"red ones number {number}"), name=f"say:{number}")
            for number in range(16):
                group.create_task(fresh_get(server, f"{AGENTIC}?q={WINTER} {number}"), name=f"ask:{number}")
        assert (first["turn"], sorted(turns)) == (1, list(range(2, 10)))
        assert (await _turn(server, "cheaper", str(first["conversationId"])))["turn"] == 10
        async with open_services(settings_for(tmp_path / "data")) as services:
            lamp = {"_id": "lamp-x", "productTitle": "Zirconium lamp", "price": 5.0, "category": "Lanterns"}
            await services.catalog.add_documents("demo", "demo", [lamp])
        answers = [(await fresh_get(server, f"{SEARCH}?q=zirconium")).json() for _ in range(12)]
        assert [[hit["_id"] for hit in answer["hits"]] for answer in answers] == [["lamp-x"]] * 12


async def _turn(server: ServerProcess, sentence: str, conversation: str | None = None) -> dict[str, Any]:
    """Say something over a connection of its own; return the turn's receipt."""
    body = {"q": sentence} | ({"conversationId": conversation} if conversation else {})
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=60) as client,
        client.stream("POST", f"{AGENTIC}/converse", json=body) as response,
    ):
        seen = [frame async for frame in frames(response)]
    assert [frame for frame in seen if frame.name == "error"] == []
    receipt: dict[str, Any] = seen[-2].data["receipt"]
    return receipt


async def test_a_worker_that_dies_is_replaced_and_the_others_serve_on(tmp_path: Path) -> None:
    """SIGKILL to one of two; every answer in between is an answer."""
    async with asyncio.timeout(120), small_server(tmp_path, workers="2") as server:
        first, second = workers_of(server)
        os.kill(first, signal.SIGKILL)
        await until(server, lambda seen: seen.get("aisle_worker_processes") == 1)
        assert (await fresh_get(server, f"{SEARCH}?q=tent")).status_code == 200
        await until(server, lambda seen: seen.get("aisle_worker_processes") == 2)
        assert second in workers_of(server)
        assert first not in workers_of(server)
        assert any('"worker_died"' in line for line in server.log_lines())


async def test_sigterm_ends_the_streams_of_every_worker_properly(tmp_path: Path) -> None:
    """The supervisor passes it on once, and leaves when they have. Source: design, runtime."""
    never = Gate("never")
    async with ScriptedGemini(gated_text(["{", "}"], [Gate("closed"), never])) as gemini:
        settings = {
            "workers": "2",
            "gemini_base_url": gemini.base_url,
            "gemini_api_key": "test-key",
            "shutdown_grace_seconds": "1",
            "model_first_chunk_seconds": "60",
            "model_total_seconds": "60",
        }
        async with asyncio.timeout(120), small_server(tmp_path, **settings) as server:
            runs: list[str] = []
            opened = [asyncio.Event() for _ in range(12)]
            seen: list[list[Frame]] = [[] for _ in opened]

            async def follow(place: int, run: str | None = None) -> None:
                headers = {"last-event-id": f"{run}-0"} if run else {}
                asked = {"q": f"{WINTER} number {place}"}
                async with (
                    httpx.AsyncClient(base_url=server.url, timeout=60, headers=headers) as client,
                    client.stream("GET", AGENTIC, params=asked) as response,
                ):
                    if run is None:
                        runs.append(response.headers["x-aisle-run-id"])
                    async for frame in frames(response):
                        seen[place].append(frame)
                        if "hits" in frame.data:
                            opened[place].set()

            async with asyncio.TaskGroup() as group:
                for place in range(4):
                    group.create_task(follow(place), name=f"follow:{place}")
                for event in opened[:4]:
                    await event.wait()
                # Others come back for these runs; about half of them reach the worker that has them not.
                for place in range(4, 12):
                    group.create_task(follow(place, runs[place % 4]), name=f"follow:{place}")
                for event in opened:
                    await event.wait()
                server.process.send_signal(signal.SIGTERM)
            assert [frames_of[-1].name for frames_of in seen] == ["stream-end"] * 12
            assert await server.process.wait() == 0
        lines = [json.loads(line) for line in server.log_lines() if "agentic_search_completed" in line]
    assert [line["outcome"] for line in lines] == ["canceled"] * 4
    assert list((tmp_path / "data").glob("workers-*")) == []


async def test_workers_leave_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    """Nothing is left behind that holds the socket or the data."""
    async with asyncio.timeout(120), small_server(tmp_path, workers="2") as server:
        workers = workers_of(server)
        server.process.kill()
        await server.process.wait()
        await eventually(lambda: all(_is_dead(pid) for pid in workers))


def _is_dead(pid: int) -> bool:
    """Return whether a process has ended and only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_sighup_brings_a_changed_file_into_use_worker_by_worker(tmp_path: Path) -> None:
    """Answers go on meanwhile; both workers are new ones. Source: docs/ops.md, settings."""
    file = tmp_path / "aisle.env"
    file.write_text("AISLE_METRICS_BY_ACCOUNT=false\n")
    settings = {"workers": "2", "settings_file": str(file)}
    async with asyncio.timeout(120), small_server(tmp_path, **settings) as server:
        before = set(workers_of(server))
        file.write_text("# changed\nAISLE_METRICS_BY_ACCOUNT=true\n")
        server.process.send_signal(signal.SIGHUP)
        statuses = set()
        while not any('"workers_renewed"' in line for line in server.log_lines()):
            statuses.add((await fresh_get(server, f"{SEARCH}?q=tent")).status_code)
            await asyncio.sleep(0.01)
        assert statuses == {200}
        assert not before & set(workers_of(server))
        await fresh_get(server, f"{SEARCH}?q=tent")
        text = (await fresh_get(server, "/metrics")).text
        assert 'path="search",source="search",outcome="ok",account="demo",worker=' in text
        new = workers_of(server)
        file.write_text("nonsense\n")
        server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: any('"settings_not_reloaded"' in line for line in server.log_lines()))
        assert workers_of(server) == new


async def test_sighup_of_a_single_process_changes_what_can_and_names_what_cannot(tmp_path: Path) -> None:
    """The rest needs a restart, and the log says so; a file that cannot be read changes nothing."""
    file = tmp_path / "aisle.env"
    file.write_text("AISLE_METRICS_OPEN=false\n")
    async with asyncio.timeout(120), small_server(tmp_path, settings_file=str(file)) as server:
        foreign = {"host": "shop.example.com"}
        assert (await fresh_get(server, "/metrics", **foreign)).status_code == 401
        file.write_text("AISLE_METRICS_OPEN=true\nAISLE_MODEL=another\n")
        server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: any('"settings_reloaded"' in line for line in server.log_lines()))
        assert (await fresh_get(server, "/metrics", **foreign)).status_code == 200
        file.write_text("nonsense\n")
        server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: any('"settings_not_reloaded"' in line for line in server.log_lines()))
        assert (await fresh_get(server, "/metrics", **foreign)).status_code == 200
        reloaded = [json.loads(line) for line in server.log_lines() if '"settings_reloaded"' in line]
        assert [(line["in_use"], line["need_restart"]) for line in reloaded] == [
            (["metrics_open"], ["model"])
        ]
        refused = [json.loads(line) for line in server.log_lines() if '"settings_not_reloaded"' in line]
        assert "line 1 is not NAME=value" in refused[0]["error"]
