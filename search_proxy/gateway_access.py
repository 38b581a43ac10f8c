"""Who is asking: from the headers of a request to a grant, or a 401 that says nothing about what exists.

A key counts in a header alone: never in the URL, which is logged by everything on the way, and never in a
body. The tenant follows from the key. `x-marqo-index-id` without a key is a public identifier and only reads.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from search_proxy.accounts.grant import OPEN_GRANT, Grant
from search_proxy.accounts.origins import is_loopback_host, is_loopback_origin, is_same_origin
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_errors import Refusal
from search_proxy.gateway_policy import PathPolicy

_WANTED = frozenset({b"authorization", b"x-api-key", b"x-marqo-index-id", b"origin", b"host"})
_KEY_PREFIXES = ("pk_", "sk_", "dk_")
_CHALLENGE = {"www-authenticate": "Bearer"}
_LONGEST_CREDENTIAL = 8_192

UNAUTHORIZED = "no valid key: send it as 'Authorization: Bearer KEY' or as 'x-api-key'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request says about its sender, read once; None where a header is absent."""

    token: str | None
    index_id: str | None
    origin: str | None
    host: str
    address: str


def read_asked(scope: Any) -> Asked:
    """Return the credentials and origin of a request.

    Raises:
        Refusal: 401 where a credential is given twice, unreadably, or in the URL.
    """
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in _WANTED:
            if name in found:
                raise Refusal(401, f"{name.decode()} is given twice", headers=_CHALLENGE)
            found[name] = value
    query = scope["query_string"]
    index_id = _text(found.get(b"x-marqo-index-id"))
    if query:
        index_id = index_id or _index_id_in(query)
    client = scope.get("client")
    return Asked(
        token=_token(_text(found.get(b"authorization")), _text(found.get(b"x-api-key"))),
        index_id=index_id,
        origin=_text(found.get(b"origin")),
        host=_text(found.get(b"host")) or "",
        address=client[0] if client else "",
    )


def granted(edge: EdgeServices, asked: Asked, policy: PathPolicy) -> Grant:
    """Return what the request's credentials allow on this path.

    Raises:
        Refusal: 401 without a valid credential, 403 with one that does not do.
    """
    grant = _identified(edge, asked, policy)
    if grant is None:
        raise Refusal(401, UNAUTHORIZED, headers=_CHALLENGE)
    if policy.access == "secret" and grant.kind not in {"secret", "open"}:
        raise Refusal(403, "this needs a secret key (sk_...)")
    if asked.origin is not None and not admits_origin(grant, asked):
        raise Refusal(403, f"origin {asked.origin!r} is not among the allowed origins of this key")
    return grant


def admits_origin(grant: Grant, asked: Asked) -> bool:
    """Return whether a page of the request's origin may use the grant; our own pages always may."""
    origin = asked.origin or ""
    if origin in grant.allowed_origins or is_same_origin(origin, asked.host):
        return True
    return grant.any_loopback_origin and is_loopback_origin(origin)


def _identified(edge: EdgeServices, asked: Asked, policy: PathPolicy) -> Grant | None:
    if asked.token is not None:
        grant = edge.accounts.identify(asked.token)
        if grant is not None and asked.index_id is not None and not _agrees(grant, asked.index_id, policy):
            raise Refusal(401, "x-marqo-index-id does not belong to the key", headers=_CHALLENGE)
        return grant
    if asked.index_id is not None and policy.index is not None:
        public = edge.accounts.identify_public(asked.index_id, policy.index)
        if public is not None:
            return public
    return OPEN_GRANT if edge.demo and _is_on_this_machine(asked) else None


def _agrees(grant: Grant, index_id: str, policy: PathPolicy) -> bool:
    account_id, _, index = index_id.partition("-")
    return account_id == grant.account_id and (policy.index is None or index == policy.index)


def _is_on_this_machine(asked: Asked) -> bool:
    """Return whether both ends are the loopback, by address and by the name that was asked for.

    The name matters: a foreign page can point its own name at 127.0.0.1, but then `Host` is that name.
    """
    try:
        loopback = ipaddress.ip_address(asked.address).is_loopback
    except ValueError:
        return False
    return loopback and is_loopback_host(asked.host)


def _token(authorization: str | None, api_key: str | None) -> str | None:
    bearer = None
    if authorization is not None:
        scheme, _, bearer = authorization.partition(" ")
        bearer = bearer.strip()
        if scheme.lower() != "bearer" or not bearer:
            raise Refusal(401, "the Authorization header takes 'Bearer KEY'", headers=_CHALLENGE)
    if bearer is not None and api_key is not None and bearer != api_key:
        raise Refusal(401, "Authorization and x-api-key hold different keys", headers=_CHALLENGE)
    return bearer if bearer is not None else api_key


def _index_id_in(query: bytes) -> str | None:
    """Return `indexId` of the query, where an `EventSource`, which sets no header, can put it."""
    index_ids = []
    if not any(marker in query for marker in (b"indexId", b"pk_", b"sk_", b"dk_")):
        return None
    for name, value in parse_qsl(query.decode("latin-1")):
        if value.startswith(_KEY_PREFIXES) and _looks_like_a_key(value):
            raise Refusal(401, "a key does not belong in a URL: send it in a header", headers=_CHALLENGE)
        if name == "indexId":
            index_ids.append(value)
    if len(index_ids) > 1:
        raise Refusal(401, "indexId is given twice", headers=_CHALLENGE)
    return index_ids[0] if index_ids else None


def _looks_like_a_key(value: str) -> bool:
    return len(value) >= 40 and " " not in value


def _text(value: bytes | None) -> str | None:
    if value is None:
        return None
    if len(value) > _LONGEST_CREDENTIAL:
        raise Refusal(431, f"a header has {len(value)} bytes; at most {_LONGEST_CREDENTIAL} are read")
    return value.decode("latin-1")
