"""Rate limits at the gateway, and the limiter's own promises about time and memory."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.accounts.account import KeyRights
from search_proxy.accounts.derived_keys import DerivedClaims, derive
from search_proxy.rate_limits import MAX_CALLERS, RateLimit, RateLimits, address_bucket
from tests.search_proxy.accounts.running_edge import Shop, key, serve_edge, shop

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


async def test_a_key_past_its_rate_gets_429_and_a_time_to_come_back() -> None:
    """The burst passes, the next is told when. Source: RFC 9110, Retry-After."""
    clock = Clock()
    one = shop("acme", requests_per_minute=20)
    other = shop("rival", requests_per_minute=20)
    async with serve_edge(one, other, rates=RateLimits(clock=clock)) as edge:
        for account_id in ("acme", "rival"):
            edge.backend.put(account_id, "store", {"_id": "p"})

        async def status(token: str) -> tuple[int, str | None]:
            answer = await edge.client.post(
                edge.url("store", "search"), json={}, headers={"x-api-key": token}
            )
            return answer.status_code, answer.headers.get("retry-after")

        assert [await status(one.publishable) for _ in range(5)] == [(200, None)] * 5
        assert await status(one.publishable) == (429, "3")
        assert await status(other.publishable) == (200, None)
        clock.now += 3.0
        assert await status(one.publishable) == (200, None)
        assert (await status(one.publishable))[0] == 429


async def test_forwarded_addresses_do_not_get_around_the_address_limit() -> None:
    """The peer's address counts, not what a header says of it."""
    one = shop("acme", requests_per_minute_per_address=20)
    async with serve_edge(one, rates=RateLimits(clock=Clock())) as edge:
        edge.backend.put("acme", "store", {"_id": "p"})
        statuses = []
        for number in range(7):
            answer = await edge.client.post(
                edge.url("store", "search"),
                json={},
                headers={
                    "x-api-key": one.publishable,
                    "X-Forwarded-For": f"203.0.113.{number}",
                    "Forwarded": f"for=203.0.113.{number}",
                    "X-Real-IP": f"203.0.113.{number}",
                },
            )
            statuses.append(answer.status_code)
    assert statuses == [200] * 5 + [429] * 2


async def test_guessing_keys_is_limited_by_address() -> None:
    """Requests without a valid key count too."""
    async with serve_edge(shop("acme"), rates=RateLimits(clock=Clock()), address_limit_per_minute=40) as edge:
        statuses = [
            (
                await edge.client.post(
                    edge.url("store", "search"), json={}, headers={"x-api-key": f"pk_guess{number}"}
                )
            ).status_code
            for number in range(12)
        ]
    assert statuses == [401] * 10 + [429] * 2


async def test_derived_keys_do_not_use_up_the_secret_key_that_signed_them() -> None:
    """Shoppers share a rate of their own."""
    secret, token = key("secret", KeyRights(requests_per_minute=20))
    account = shop("acme").account.model_copy(update={"keys": (secret,)})
    derived = derive(token, DerivedClaims(expires=time.time() + 60))
    async with serve_edge(
        Shop(account=account, publishable="", secret=token), rates=RateLimits(clock=Clock())
    ) as edge:
        edge.backend.put("acme", "store", {"_id": "p"})
        statuses = [
            (
                await edge.client.post(edge.url("store", "search"), json={}, headers={"x-api-key": used})
            ).status_code
            for used in [derived] * 6 + [token]
        ]
    assert statuses == [200] * 5 + [429, 200]


async def test_a_key_has_a_bounded_number_of_requests_at_once() -> None:
    """Open streams hold their place until they end, and give it back."""
    gate = asyncio.Event()
    entered = asyncio.Event()

    class Held:
        async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
            entered.set()
            await gate.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    one = shop("acme", requests_in_flight=1)
    async with serve_edge(one, agentic=Held()) as edge, asyncio.timeout(5):
        edge.backend.put("acme", "store", {"_id": "p"})
        path, headers = edge.url("store", "agentic-search"), {"x-api-key": one.publishable}
        async with asyncio.TaskGroup() as group:
            first = group.create_task(edge.client.get(path, headers=headers), name="first")
            await entered.wait()
            assert (await edge.client.get(path, headers=headers)).status_code == 429
            gate.set()
        assert first.result().status_code == 200
        assert (await edge.client.get(path, headers=headers)).status_code == 200


def test_ten_thousand_addresses_do_not_grow_the_limiter_past_its_bound() -> None:
    """Memory is bounded whatever comes in. Source: storefront-protocols, 6."""
    limits = RateLimits(clock=Clock())
    limit = RateLimit.of(300)
    tracemalloc.start()
    for number in range(10_000):
        limits.delay(f"198.51.{number // 256}.{number % 256}", limit)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(limits) == MAX_CALLERS
    assert used < 4_000_000


def test_a_busy_caller_is_not_forgotten_while_others_pass_by() -> None:
    """A flood of new addresses does not reset the one that floods."""
    limits = RateLimits(clock=Clock(), max_callers=100)
    limit = RateLimit(per_minute=60, burst=1)
    assert limits.delay("busy", limit) == 0
    for number in range(1_000):
        limits.delay(f"passer-by {number}", limit)
        assert limits.delay("busy", limit) > 0


@given(
    per_minute=st.integers(1, 100_000),
    burst=st.integers(1, 50),
    gaps=st.lists(st.floats(0, 5), min_size=1, max_size=200),
)
def test_no_caller_ever_exceeds_burst_plus_rate(per_minute: int, burst: int, gaps: list[float]) -> None:
    """Over any stretch from the start; and whoever waits as told is admitted."""
    clock = Clock()
    limits = RateLimits(clock=clock)
    limit = RateLimit(per_minute=per_minute, burst=burst)
    for admitted, gap in enumerate(gaps, start=1):
        clock.now += gap
        wait = limits.delay("caller", limit)
        if wait:
            clock.now += wait + 1e-6
            assert limits.delay("caller", limit) == 0
        assert admitted <= burst + (clock.now - 100.0) * per_minute / 60 + 1e-3


def test_an_ipv6_network_counts_as_one_address() -> None:
    """Whoever owns a /64 owns 2^64 addresses."""
    assert (
        address_bucket("2001:db8:1:2:3::4") == address_bucket("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    )
    assert address_bucket("2001:db8:1:3::4") != address_bucket("2001:db8:1:2::4")
    assert address_bucket("::ffff:192.0.2.1") == address_bucket("192.0.2.1") == "192.0.2.1"
