"""What the edge itself costs per request: path rules, key check, limits, settings, headers.

A request goes through the real door, as ASGI, to a worker that answers nothing; the same request straight to
that worker is subtracted. CPU time of this process, without a socket.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from search_proxy.accounts.account import Account, KeyRecord, KeyRights, PublicAccess
from search_proxy.accounts.derived_keys import DerivedClaims, derive
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.keys import KeyKind, mint, secret_hash, signing_key
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_door import Door
from search_proxy.models import IndexDescription

_ACCOUNTS = 1_000
_REQUESTS = 2_000
_ROUNDS = 15
_LIMIT_US = 60
_ORIGIN = "https://shop.example"

_DESCRIPTION = IndexDescription(
    index="store", documents=1, products=1, fields=(), category_field=None, language="en", generation="1"
)


class _Worker:
    """Answers with an empty 200, like the cheapest route there could be."""

    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def describe_index(self, caller: Any, index: str) -> IndexDescription:
        return _DESCRIPTION


def main() -> None:
    """Print microseconds of CPU per request, by kind of credential."""
    directory, tokens = _directory()
    worker: Any = _Worker()
    edge = EdgeServices(
        accounts=directory,
        search=worker,
        backend=worker,
        catalog=worker,
        agentic=worker,
        address_limit_per_minute=1_000_000_000,
    )
    door = Door(worker.fetch)
    cases: dict[str, dict[str, str]] = {
        "publishable key": {"x-api-key": tokens["publishable"]},
        "publishable key, from a page": {"x-api-key": tokens["publishable"], "origin": _ORIGIN},
        "derived key": {"authorization": f"Bearer {tokens['derived']}"},
        "public identifier": {"x-marqo-index-id": "shop0-store"},
        "unknown key (401)": {"x-api-key": tokens["publishable"][:-1] + "!"},
    }
    print(f"{'CPU per request, by credential':<32}{'median us':>11}{'worst round us':>16}{'limit us':>10}")
    for name, headers in cases.items():
        through = _measured(door, edge, headers)
        straight = _measured(worker.fetch, edge, headers)
        own = sorted(one - statistics.median(straight) for one in through)
        print(f"{name:<32}{statistics.median(own):>11.1f}{own[-1]:>16.1f}{_LIMIT_US:>10}")


def _measured(
    app: Callable[..., Awaitable[None]], edge: EdgeServices, headers: dict[str, str]
) -> list[float]:
    return asyncio.run(_rounds(app, edge, headers))


async def _rounds(
    app: Callable[..., Awaitable[None]], edge: EdgeServices, headers: dict[str, str]
) -> list[float]:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    raw += [(b"host", b"search.example"), (b"accept", b"text/event-stream"), (b"user-agent", b"bench/1.0")]

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        return None

    spent = []
    for _ in range(_ROUNDS + 2):
        started = time.process_time_ns()
        for _ in range(_REQUESTS):
            await app(
                {
                    "type": "http",
                    "asgi": {"version": "3.0"},
                    "http_version": "1.1",
                    "method": "GET",
                    "scheme": "http",
                    "path": "/api/v1/indexes/store/agentic-search",
                    "raw_path": b"/api/v1/indexes/store/agentic-search",
                    "query_string": b"q=warm+jacket+for+winter+camping&sessionId=abcdefgh",
                    "root_path": "",
                    "headers": raw,
                    "client": ("203.0.113.7", 50000),
                    "server": ("127.0.0.1", 8787),
                    "state": {"edge": edge},
                },
                receive,
                send,
            )
        spent.append((time.process_time_ns() - started) / 1_000 / _REQUESTS)
    return spent[2:]


def _directory() -> tuple[AccountDirectory, dict[str, str]]:
    directory = AccountDirectory()
    tokens: dict[str, str] = {}
    rights = KeyRights(
        allowed_origins=(_ORIGIN,),
        forced_filter="availability:(true)",
        requests_per_minute=10_000_000,
        requests_per_minute_per_address=10_000_000,
    )
    for number in range(_ACCOUNTS):
        publishable, publishable_token = _key("publishable", rights)
        secret, secret_token = _key("secret", rights)
        directory.apply(
            Account(
                account_id=f"shop{number}",
                version=1,
                created_at=1.0,
                keys=(publishable, secret),
                public_access=PublicAccess(enabled=True, rights=rights),
                settings={"store": {"cached_query_percentage": 50}},
            )
        )
        tokens = {"publishable": publishable_token, "secret": secret_token}
    claims = DerivedClaims(expires=time.time() + 3_600, filter="price:[* TO 50]", groups=("gold",))
    return directory, tokens | {"derived": derive(tokens["secret"], claims)}


def _key(kind: KeyKind, rights: KeyRights) -> tuple[KeyRecord, str]:
    key_id, token = mint(kind)
    record = KeyRecord(
        key_id=key_id,
        kind=kind,
        secret_hash=secret_hash(token),
        signing_key=signing_key(token) if kind == "secret" else "",
        rights=rights,
        created_at=1.0,
    )
    return record, token


if __name__ == "__main__":
    main()
