"""The door: every request passes it, in this order, before any route sees it.

Path rules, preflight, address limit, credentials, key limits, index, body; then the route, or the agentic
binding. It is pure ASGI: one frame per request, and streams pass untouched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from search_proxy.accounts.account import INDEX_NAME
from search_proxy.accounts.grant import Grant
from search_proxy.accounts.origins import is_loopback_host, is_loopback_origin, is_same_origin
from search_proxy.edge_services import EdgeServices
from search_proxy.edge_traffic import LimitScope, kind_of
from search_proxy.errors import IndexNotFound, SearchError
from search_proxy.gateway_access import Asked, granted, read_asked
from search_proxy.gateway_errors import Refusal, refusal_of, too_many
from search_proxy.gateway_exchange import Exchange, Receive, Send, bounded_receive
from search_proxy.gateway_policy import PathPolicy, policy_for
from search_proxy.rate_limits import RateLimit, address_bucket

logger = logging.getLogger(__name__)

ExtraPolicy = Callable[[str], PathPolicy | None]
"""Gives the rules of a path outside `/api/`, so that another face passes the same door."""

FAILED = "the request could not be answered"

_LONGEST_HEADERS = 32 * 1024
_LONGEST_QUERY = 128 * 1024
"""A base64 payload of 64 KiB and its name fit."""
_CORS_HEADERS = (
    b"authorization, content-type, x-api-key, x-marqo-index-id, x-request-id, last-event-id, cache-control,"
    b" mcp-protocol-version, mcp-method, mcp-name"
)
_ASGI_KEYS = ("type", "asgi", "http_version", "server", "client", "scheme", "method", "headers", "extensions")
_PATH_KEYS = ("root_path", "path", "raw_path", "query_string")


class Door:
    """ASGI middleware around the gateway's application, framework and all."""

    def __init__(self, app: Any, policies: Sequence[ExtraPolicy] = ()) -> None:
        self._app = app
        self._policies = policies

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request, or pass on what is not HTTP."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send)
        try:
            await self._pass(scope, receive, exchange)
        except Refusal as refusal:
            _log_refusal(exchange, scope, refusal)
            await exchange.refuse(refusal)
        except SearchError as error:
            await exchange.refuse(refusal_of(error))
        except Exception:
            logger.exception(
                "request_failed", extra={"request_id": exchange.request_id, "path": scope["path"]}
            )
            await exchange.refuse(Refusal(500, FAILED))
        finally:
            if exchange.status is not None and (edge := scope["state"].get("edge")) is not None:
                edge.traffic.responses[exchange.kind, exchange.status] += 1

    async def _pass(self, scope: Any, receive: Receive, exchange: Exchange) -> None:
        policy = self._policy(scope["path"])
        exchange.is_api = policy.is_api
        exchange.kind = kind_of(policy)
        state = scope["state"]
        state["request_id"] = exchange.request_id
        _check_sizes(scope)
        if scope["method"] == "HEAD" and not policy.is_forwarded:
            scope = {**scope, "method": "GET"}
        if not policy.is_api or (policy.access == "public" and scope["method"] != "OPTIONS"):
            await self._app(scope, await bounded_receive(scope, receive, policy.body_bytes), exchange.send)
            return
        edge: EdgeServices = state["edge"]
        asked = read_asked(scope)
        if scope["method"] == "OPTIONS":
            await _answer_options(edge, asked, scope, policy, exchange)
            return
        if asked.origin is not None and _is_known_origin(edge, asked):
            exchange.allowed_origin = asked.origin
        _limit_address(edge, asked)
        grant = _grant(edge, asked, policy, exchange)
        with _within_limits(edge, asked, grant):
            caller = grant.caller(exchange.request_id)
            state["caller"] = caller
            state["grant"] = grant
            state["settings"] = edge.accounts.snapshot(grant.account_id, policy.index or "")
            _check_index(policy, grant)
            receive = await bounded_receive(scope, receive, policy.body_bytes)
            if policy.is_forwarded:
                await _forward(edge, scope, receive, exchange, policy)
            else:
                await self._app(scope, receive, exchange.send)

    def _policy(self, path: str) -> PathPolicy:
        for policy in self._policies:
            found = policy(path)
            if found is not None:
                return found
        return policy_for(path)


async def _forward(
    edge: EdgeServices, scope: Any, receive: Receive, exchange: Exchange, policy: PathPolicy
) -> None:
    """Hand the authenticated request to the worker, with nothing of ours but the trusted facts."""
    await edge.search.describe_index(scope["state"]["caller"], policy.index or "")
    if scope["method"] == "HEAD":
        if not policy.is_stream:
            raise Refusal(405, "HEAD is not answered here", headers={"allow": policy.allow})
        await exchange.empty(200, [(b"content-type", b"text/event-stream")])
        return
    trusted = {name: scope["state"][name] for name in ("caller", "settings", "request_id")}
    passed = {name: scope[name] for name in (*_ASGI_KEYS, *_PATH_KEYS) if name in scope}
    await edge.agentic.fetch({**passed, "state": trusted}, receive, exchange.send)


def _grant(edge: EdgeServices, asked: Asked, policy: PathPolicy, exchange: Exchange) -> Grant:
    try:
        grant = granted(edge, asked, policy)
    except Refusal as refusal:
        if refusal.status == 403:
            exchange.allowed_origin = None
        raise
    exchange.allowed_origin = asked.origin
    return grant


@contextmanager
def _within_limits(edge: EdgeServices, asked: Asked, grant: Grant) -> Iterator[None]:
    # By kind as well: what shoppers do with derived keys must not use up the secret key that signed them.
    key = f"{grant.kind} {grant.key_id or grant.account_id}"
    wait = edge.rates.delay(f"{key}|{address_bucket(asked.address)}", grant.per_address)
    if wait:
        raise _limited(edge, "key_address", wait, "from this address")
    wait = edge.rates.delay(key, grant.per_key)
    if wait:
        raise _limited(edge, "key", wait, "with this key")
    if not edge.rates.enter(key, grant.in_flight):
        raise _limited(edge, "in_flight", 1, "at once with this key")
    try:
        yield
    finally:
        edge.rates.leave(key)


def _limit_address(edge: EdgeServices, asked: Asked) -> None:
    limit = RateLimit.of(edge.address_limit_per_minute)
    wait = edge.rates.delay(address_bucket(asked.address), limit)
    if wait:
        raise _limited(edge, "address", wait, "from this address")


def _limited(edge: EdgeServices, scope: LimitScope, wait: float, what: str) -> Refusal:
    edge.traffic.limited[scope] += 1
    return too_many(wait, what)


def _check_sizes(scope: Any) -> None:
    headers = sum(len(name) + len(value) for name, value in scope["headers"])
    if headers > _LONGEST_HEADERS:
        raise Refusal(431, f"the headers have {headers} bytes; at most {_LONGEST_HEADERS} are read")
    if len(scope["query_string"]) > _LONGEST_QUERY:
        raise Refusal(414, f"the query string is too long; at most {_LONGEST_QUERY} bytes are read, use POST")


def _check_index(policy: PathPolicy, grant: Grant) -> None:
    if policy.index is None:
        return
    outside = grant.indexes is not None and policy.index not in grant.indexes
    if outside or INDEX_NAME.match(policy.index) is None:
        raise IndexNotFound(policy.index)


async def _answer_options(
    edge: EdgeServices, asked: Asked, scope: Any, policy: PathPolicy, exchange: Exchange
) -> None:
    is_preflight = any(name == b"access-control-request-method" for name, _ in scope["headers"])
    if asked.origin is None or not is_preflight:
        await exchange.empty(204, [(b"allow", policy.allow.encode())])
        return
    if not _is_known_origin(edge, asked):
        raise Refusal(403, f"origin {asked.origin!r} is not an allowed origin")
    exchange.allowed_origin = asked.origin
    await exchange.empty(
        204,
        [
            (b"access-control-allow-methods", policy.allow.encode()),
            (b"access-control-allow-headers", _CORS_HEADERS),
            (b"access-control-max-age", b"600"),
        ],
    )


def _is_known_origin(edge: EdgeServices, asked: Asked) -> bool:
    """Return whether any credential could admit the origin; which one is not known before the key."""
    origin = asked.origin or ""
    if edge.accounts.knows_origin(origin) or is_same_origin(origin, asked.host):
        return True
    return edge.demo and is_loopback_host(asked.host) and is_loopback_origin(origin)


def _log_refusal(exchange: Exchange, scope: Any, refusal: Refusal) -> None:
    logger.info(
        "request_refused",
        extra={
            "request_id": exchange.request_id,
            "path": scope["path"],
            "status": refusal.status,
            "code": refusal.code,
        },
    )
