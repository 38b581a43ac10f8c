"""The permission service as a gate: every way in which it can fail shows nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import orjson
import pytest

from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.viewing.gate import View, ViewGate, ViewGateFailed
from search_proxy.viewing.gates import ViewGates, open_view_gates
from search_proxy.viewing.http_gate import MAX_ANSWER_BYTES, PermissionServices, allowed_in
from search_proxy.viewing.service_addresses import ServiceAddresses
from search_proxy.viewing.service_gate import HttpViewGate
from search_proxy.viewing.verdicts import Verdicts
from tests.support.clocks import FakeClock
from tests.support.permission_service import (
    Behaviour,
    PermissionService,
    allowing,
    permission_service,
    reply,
    saying,
)

pytestmark = pytest.mark.anyio

_VIEW = View(account_id="acme", index="store", groups=frozenset({"gold"}), generation="g1", request_id="r1")
_HITS = [{"_id": "a"}, {"_id": "b"}, {"_id": "c"}]


def _ok(body: Any) -> Behaviour:
    return saying(reply(orjson.dumps(body)))


async def _cut(_: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    writer.write(reply(b'{"allowed": ["a"', length=1_000))
    await writer.drain()
    writer.close()


async def _reset(_: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


_BROKEN: list[tuple[str, Behaviour]] = [
    ("status", saying(reply(b"{}", "500 Internal Server Error"))),
    ("status", saying(reply(b'{"allowed": ["a"]}', "403 Forbidden"))),
    ("status", saying(reply(b"", "204 No Content"))),
    ("status", saying(reply(b"", "302 Found", "location: http://127.0.0.1:1/"))),
    ("status", saying(reply(b'{"allowed": ["a"]}', "307 Temporary Redirect", "location: /view"))),
    ("unreachable", _cut),
    ("unreachable", _reset),
    ("unreachable", saying(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")),
    ("not_json", saying(reply(b"<html>all of them</html>"))),
    ("not_json", saying(reply(b""))),
    ("not_json", saying(reply(b'{"allowed": ["a"]} and more'))),
    ("bad_answer", _ok(["a", "b"])),
    ("bad_answer", _ok({"permitted": ["a"]})),
    ("bad_answer", _ok({"allowed": "a"})),
    ("bad_answer", _ok({"allowed": {"a": True}})),
    ("bad_answer", _ok({"allowed": ["a", 2]})),
    ("bad_answer", _ok({"allowed": None})),
    ("unknown_id", _ok({"allowed": ["a", "z"]})),
    ("too_many", _ok({"allowed": ["a", "b", "c", "a"]})),
    ("encoding", saying(reply(b'{"allowed": ["a"]}', "200 OK", "content-encoding: gzip"))),
    ("too_large", saying(reply(b" " * (MAX_ANSWER_BYTES + 1)))),
]


@asynccontextmanager
async def _gate(behaviour: Behaviour, **settings: Any) -> AsyncIterator[tuple[ViewGate, PermissionService]]:
    async with (
        asyncio.timeout(10),
        permission_service(behaviour) as service,
        open_view_gates([service.host]) as gates,
    ):
        yield _http_gate(gates, service, **settings), service


def _http_gate(gates: ViewGates, service: PermissionService, **settings: Any) -> ViewGate:
    values = {"kind": "http", "url": service.url, "timeout_ms": 5_000} | settings
    gate = gates.gate_for(ViewGateSettings.model_validate(values))
    assert gate is not None
    return gate


async def test_one_question_asks_for_the_whole_page() -> None:
    """Account, index, groups and ids, and nothing else of the shopper or the products."""
    async with _gate(allowing(lambda asked, one: one != "b")) as (gate, service):
        assert await gate.allowed(_VIEW, [*_HITS, {"_id": "a"}]) == {"a", "c"}
        assert service.asked == [
            {"account": "acme", "index": "store", "groups": ["gold"], "ids": ["a", "b", "c"]}
        ]
        assert b"x-request-id: r1" in service.heads[0].lower()


@pytest.mark.parametrize(("reason", "behaviour"), _BROKEN)
async def test_what_is_no_proper_answer_is_no_answer(reason: str, behaviour: Behaviour) -> None:
    """Nothing is allowed, not even what the answer seems to allow, and nothing is remembered."""
    async with _gate(behaviour) as (gate, service):
        with pytest.raises(ViewGateFailed) as failed:
            await gate.allowed(_VIEW, _HITS)
        assert failed.value.reason == reason
        service.behaviour = allowing(lambda asked, one: True)
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}
        assert service.asked[-1]["ids"] == ["a", "b", "c"]


async def test_a_service_that_says_nothing_ends_with_its_deadline() -> None:
    """Its own deadline, not that of the search."""

    async def silent(_: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        await service.released.wait()

    async with _gate(silent, timeout_ms=20) as (gate, service):
        with pytest.raises(ViewGateFailed) as failed:
            await gate.allowed(_VIEW, _HITS)
    assert failed.value.reason == "timeout"


async def test_a_service_that_drips_ends_with_its_deadline() -> None:
    """A byte now and then is no progress: the deadline is that of the whole answer."""

    async def drip(_: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        for _byte in range(2_000):
            writer.write(b" ")
            await writer.drain()
            try:
                await asyncio.wait_for(service.released.wait(), 0.005)
            except TimeoutError:
                continue
            return

    async with _gate(drip, timeout_ms=60) as (gate, service):
        with pytest.raises(ViewGateFailed) as failed:
            await gate.allowed(_VIEW, _HITS)
        service.released.set()
    assert failed.value.reason == "timeout"


async def test_a_redirect_is_not_followed() -> None:
    """Where it points to is never asked."""
    async with permission_service(allowing(lambda asked, one: True)) as elsewhere:
        to = f"location: {elsewhere.url}"
        async with _gate(saying(reply(b"", "307 Temporary Redirect", to))) as (gate, service):
            with pytest.raises(ViewGateFailed):
                await gate.allowed(_VIEW, _HITS)
        assert (len(service.asked), elsewhere.asked) == (1, [])


async def test_a_service_that_fails_again_and_again_rests() -> None:
    """Three failures cost their deadlines; then a second passes before it is asked again."""
    clock = FakeClock()
    async with permission_service(saying(reply(b"", "500 Oops"))) as service, aiohttp.ClientSession() as http:
        services = PermissionServices(http, ServiceAddresses([service.host]).check, now=clock)
        gate = HttpViewGate(services, service.url, seconds=5, cache_seconds=10)
        reasons = []
        for _ in range(5):
            with pytest.raises(ViewGateFailed) as failed:
                await gate.allowed(_VIEW, _HITS)
            reasons.append(failed.value.reason)
        assert reasons == ["status"] * 3 + ["resting"] * 2
        assert len(service.asked) == 3
        clock.advance(1.1)
        service.behaviour = allowing(lambda asked, one: True)
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}


async def test_a_verdict_holds_for_a_short_while_and_for_its_own_view_alone() -> None:
    """Other groups, another account, index or generation: each is asked anew, and gets its own answer."""
    clock = FakeClock()
    by_group = allowing(lambda asked, one: asked["groups"] == ["gold"] or one == "a")
    async with permission_service(by_group) as service, aiohttp.ClientSession() as http:
        check = ServiceAddresses([service.host]).check
        services = PermissionServices(http, check, verdicts=Verdicts(now=clock), now=clock)
        gate = HttpViewGate(services, service.url, seconds=5, cache_seconds=10)
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}
        assert len(service.asked) == 1
        poor = replace(_VIEW, groups=frozenset({"silver"}))
        others = [
            poor,
            replace(_VIEW, groups=frozenset()),
            replace(_VIEW, account_id="other"),
            replace(_VIEW, index="other"),
            replace(_VIEW, generation="g2"),
        ]
        for asked_before, other in enumerate(others, start=1):
            own = {"a", "b", "c"} if other.groups == _VIEW.groups else {"a"}
            assert await gate.allowed(other, _HITS) == own
            assert len(service.asked) == asked_before + 1
        # What the poorer shopper was refused does not reach the richer one either.
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}
        assert len(service.asked) == 6
        clock.advance(10.1)
        assert await gate.allowed(_VIEW, _HITS) == {"a", "b", "c"}
        assert len(service.asked) == 7


async def test_only_what_is_not_remembered_is_asked_for() -> None:
    """The second page asks for its own documents."""
    async with _gate(allowing(lambda asked, one: True)) as (gate, service):
        await gate.allowed(_VIEW, _HITS)
        assert await gate.allowed(_VIEW, [*_HITS, {"_id": "d"}]) == {"a", "b", "c", "d"}
        assert [asked["ids"] for asked in service.asked] == [["a", "b", "c"], ["d"]]


@pytest.mark.parametrize(("generation", "cache_seconds"), [(None, 10.0), ("g1", 0.0)])
async def test_nothing_is_remembered_without_a_generation_or_a_time(
    generation: str | None, cache_seconds: float
) -> None:
    """An index that cannot say when it changed leaves nothing to keep a verdict by."""
    async with _gate(allowing(lambda asked, one: True), cache_seconds=cache_seconds) as (gate, service):
        for _ in range(2):
            await gate.allowed(replace(_VIEW, generation=generation), _HITS)
        assert len(service.asked) == 2


def test_a_clock_that_is_set_back_prolongs_no_verdict() -> None:
    """By default the clock is one that nobody can set."""
    clock = FakeClock()
    verdicts = Verdicts(now=clock)
    verdicts.keep(_VIEW, "service", ["a"], {"a"})
    assert verdicts.known(_VIEW, "service", ["a"], 10) == {"a": True}
    clock.advance(-1)
    assert verdicts.known(_VIEW, "service", ["a"], 10) == {}
    clock.advance(1)
    assert verdicts.known(_VIEW, "service", ["a"], 10) == {}


def test_a_verdict_is_as_old_as_the_account_allows_now() -> None:
    """A shorter time holds for what was asked under a longer one."""
    clock = FakeClock()
    verdicts = Verdicts(now=clock)
    verdicts.keep(_VIEW, "service", ["a"], set())
    clock.advance(5)
    assert verdicts.known(_VIEW, "service", ["a"], 300) == {"a": False}
    assert verdicts.known(_VIEW, "service", ["a"], 5) == {}


def test_verdicts_are_bounded() -> None:
    """The least recently used go first."""
    verdicts = Verdicts(max_verdicts=3)
    verdicts.keep(_VIEW, "service", ["a", "b", "c"], {"a"})
    verdicts.known(_VIEW, "service", ["a"], 10)
    verdicts.keep(_VIEW, "service", ["d"], {"d"})
    assert len(verdicts) == 3
    assert verdicts.known(_VIEW, "service", ["a", "b", "c", "d"], 10) == {"a": True, "c": False, "d": True}


@pytest.mark.parametrize("body", [b'{"allowed": []}', b'{"allowed": [], "more": [1]}'])
def test_an_answer_may_allow_nothing(body: bytes) -> None:
    """That is an answer, and no failure."""
    assert allowed_in(body, ["a"]) == frozenset()
