"""Asks an account's permission service which documents may be seen: one POST for a page, answered or closed.

    {"account": "acme", "index": "store", "groups": ["gold"], "ids": ["a", "b"]}  ->  {"allowed": ["a"]}

Anything but a prompt 200 with ids that were asked for is no answer, and no answer shows nothing. Redirects
are not followed; a compressed answer is not read, so that its size on the wire is its size.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager

import aiohttp
import orjson

from search_proxy.viewing.gate import View, ViewGateFailed
from search_proxy.viewing.service_addresses import ServiceAddresses, ServiceResolver
from search_proxy.viewing.verdicts import Verdicts
from search_proxy.web.addresses import AddressRefused

logger = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 1_048_576
"""A thousand ids of the greatest length, twice."""

REST_AFTER_FAILURES = 3
REST_SECONDS = 1.0
"""One answer makes some ten searches: a service that is away must not cost each of them its deadline."""

MAX_CONNECTIONS = 100

_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "aisle-view-gate/1.0",
}

CheckUrl = Callable[[str], None]
"""Raises `ViewGateFailed` for a URL that this server does not ask."""


class PermissionServices:
    """The permission services of all accounts: one pool of connections, one memory of verdicts."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        check_url: CheckUrl,
        *,
        verdicts: Verdicts | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._check_url = check_url
        self._verdicts = verdicts if verdicts is not None else Verdicts(now=now)
        self._now = now
        self._failures: dict[str, tuple[int, float]] = {}

    async def allowed(
        self, url: str, view: View, ids: Sequence[str], *, seconds: float, cache_seconds: float
    ) -> frozenset[str]:
        """Return which of `ids` the service allows, asking for those alone that are not remembered.

        Raises:
            ViewGateFailed: The service is not to be asked, did not answer in time, or not properly.
        """
        known = self._verdicts.known(view, url, ids, cache_seconds)
        wanted = [identifier for identifier in dict.fromkeys(ids) if identifier not in known]
        allowed = {identifier for identifier, may_be_seen in known.items() if may_be_seen}
        if wanted:
            answered = await self._ask(url, view, wanted, seconds)
            if cache_seconds > 0:
                self._verdicts.keep(view, url, wanted, answered)
            allowed |= answered
        return frozenset(allowed)

    async def _ask(self, url: str, view: View, ids: Sequence[str], seconds: float) -> frozenset[str]:
        self._check_url(url)
        count, since = self._failures.get(url, (0, 0.0))
        if count >= REST_AFTER_FAILURES and self._now() - since < REST_SECONDS:
            raise ViewGateFailed("resting", f"the permission service failed {count} times in a row")
        try:
            answered = await self._answer(url, view, ids, seconds)
        except ViewGateFailed:
            self._failures.pop(url, None)
            self._failures[url] = (count + 1, self._now())
            if len(self._failures) > _REMEMBERED_FAILURES:
                del self._failures[next(iter(self._failures))]
            raise
        self._failures.pop(url, None)
        return answered

    async def _answer(self, url: str, view: View, ids: Sequence[str], seconds: float) -> frozenset[str]:
        try:
            async with asyncio.timeout(seconds):
                body = await self._post(url, view, ids)
        except TimeoutError as error:
            raise ViewGateFailed("timeout", f"no answer within {seconds * 1000:g} ms") from error
        except aiohttp.ClientError as error:
            if isinstance(error, AddressRefused) or isinstance(error.__cause__, AddressRefused):
                raise ViewGateFailed("address", "the service is at an address that is not public") from error
            raise ViewGateFailed("unreachable", f"the service did not answer: {error}") from error
        return allowed_in(body, ids)

    async def _post(self, url: str, view: View, ids: Sequence[str]) -> bytes:
        asked = {
            "account": view.account_id,
            "index": view.index,
            "groups": sorted(view.groups),
            "ids": list(ids),
        }
        headers = {"x-request-id": view.request_id} if view.request_id else {}
        async with self._session.post(
            url, data=orjson.dumps(asked), headers=headers, allow_redirects=False
        ) as response:
            if response.status != 200:
                raise ViewGateFailed("status", f"the service answered with status {response.status}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ViewGateFailed("encoding", "the service answered compressed, which nobody asked for")
            received = bytearray()
            async for chunk in response.content.iter_any():
                received += chunk
                if len(received) > MAX_ANSWER_BYTES:
                    raise ViewGateFailed("too_large", f"the answer has more than {MAX_ANSWER_BYTES} bytes")
            return bytes(received)


_REMEMBERED_FAILURES = 1_000


def allowed_in(body: bytes, asked: Sequence[str]) -> frozenset[str]:
    """Return the ids that an answer allows.

    Raises:
        ViewGateFailed: It is not `{"allowed": [ids]}`, or has an id that nobody asked for: an answer to
            another question is no answer to this one.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ViewGateFailed("not_json", "the answer is not JSON") from error
    allowed = answer.get("allowed") if isinstance(answer, dict) else None
    if not isinstance(allowed, list) or not all(isinstance(one, str) for one in allowed):
        raise ViewGateFailed("bad_answer", "the answer has no list of ids in 'allowed'")
    if len(allowed) > len(asked):
        raise ViewGateFailed("too_many", f"the answer allows {len(allowed)} of {len(asked)} documents")
    if not set(allowed) <= set(asked):
        raise ViewGateFailed("unknown_id", "the answer allows a document that nobody asked for")
    return frozenset(allowed)


@asynccontextmanager
async def open_permission_services(listed_hosts: Collection[str] = ()) -> AsyncIterator[PermissionServices]:
    """Yield what asks them; leaving closes the connections."""
    addresses = ServiceAddresses(listed_hosts)
    # `force_close` is not set: a page's deadline has no room for a new connection each time.
    connector = aiohttp.TCPConnector(
        resolver=ServiceResolver(addresses), use_dns_cache=False, limit=MAX_CONNECTIONS
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=30),
    ) as session:
        yield PermissionServices(session, addresses.check)
