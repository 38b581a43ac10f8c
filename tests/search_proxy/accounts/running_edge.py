"""A gateway on a real socket, with a worker that repeats what it was trusted with."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson
import uvicorn

from search_proxy.accounts.account import Account, KeyRecord, KeyRights, PublicAccess
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.keys import KeyKind, mint, secret_hash, signing_key
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway import create_gateway
from search_proxy.proxy import SearchProxy
from tests.search_proxy.accounts.secret_watch import refuse_leaked_keys
from tests.search_proxy.accounts.shelf_backend import ShelfBackend
from tests.support.prompt_server import PromptServer


class EchoWorker:
    """Answers an agentic request with the facts that the gateway vouched for."""

    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer with `{"account", "key_kind", "path", "filter", "settings_version", "body"}`."""
        caller = scope["state"]["caller"]
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        answer = {
            "account": caller.account_id,
            "key_kind": caller.key_kind,
            "groups": sorted(caller.groups),
            "filter": str(caller.forced_filter) if caller.forced_filter else None,
            "path": scope["path"],
            "settings_version": scope["state"]["settings"].version,
            "flags": scope["state"]["settings"].settings.feature_flags.model_dump(),
            "state": sorted(scope["state"]),
            "body": body.decode(),
        }
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"application/json")],
            }
        )
        await send({"type": "http.response.body", "body": orjson.dumps(answer)})


@dataclass
class Shop:
    """An account with one key of each kind, and the tokens that were shown once."""

    account: Account
    publishable: str
    secret: str


def shop(account_id: str, *, public: bool = False, **rights: Any) -> Shop:
    """Return an account whose publishable key has the given rights."""
    publishable, publishable_token = key("publishable", KeyRights(**rights))
    secret, secret_token = key("secret", KeyRights())
    account = Account(
        account_id=account_id,
        version=1,
        created_at=1.0,
        keys=(publishable, secret),
        public_access=PublicAccess(enabled=public, rights=KeyRights(**rights)),
    )
    return Shop(account=account, publishable=publishable_token, secret=secret_token)


def key(kind: KeyKind, rights: KeyRights) -> tuple[KeyRecord, str]:
    """Return a key's record and its token."""
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


@dataclass
class RunningEdge:
    """A served gateway: its client, its directory and its shelves."""

    client: httpx.AsyncClient
    accounts: AccountDirectory
    backend: ShelfBackend
    services: EdgeServices
    ports: Sequence[int] = field(default_factory=list)

    def url(self, index: str, action: str) -> str:
        """Return the path of an index's route."""
        return f"/api/v1/indexes/{index}/{action}"


@asynccontextmanager
async def serve_edge(
    *shops: Shop, demo: bool = False, gateway: Callable[..., Any] = create_gateway, **services: Any
) -> AsyncIterator[RunningEdge]:
    """Serve a gateway on the loopback until the block ends."""
    accounts = AccountDirectory()
    for one in shops:
        accounts.apply(one.account)
    backend = ShelfBackend()
    options: dict[str, Any] = {
        "accounts": accounts,
        "search": SearchProxy(backend),
        "backend": backend,
        "catalog": backend,
        "agentic": EchoWorker(),
        "demo": demo,
    } | services
    edge = EdgeServices(**options)

    @asynccontextmanager
    async def open_edge() -> AsyncIterator[EdgeServices]:
        yield edge

    async with serve_app(gateway(open_edge)) as client:
        yield RunningEdge(client=client, accounts=accounts, backend=backend, services=edge)


@asynccontextmanager
async def serve_app(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an ASGI application on the loopback until the block ends."""
    # Named as TCP, or asyncio leaves Nagle's algorithm on and every small answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    server = PromptServer(uvicorn.Config(app, log_config=None, access_log=False, proxy_headers=False))
    async with asyncio.TaskGroup() as running:
        running.create_task(server.serve(sockets=[listener]), name="test server")
        try:
            base = f"http://127.0.0.1:{listener.getsockname()[1]}"
            hooks = {"response": [refuse_leaked_keys]}
            async with httpx.AsyncClient(base_url=base, timeout=5, event_hooks=hooks) as client:
                yield client
        finally:
            server.leave()
