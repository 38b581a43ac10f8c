"""Who calls over gRPC: the key of the metadata, its limits, and the index that the call names.

The same keys as everywhere else, from the same directory; the account follows from the key.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

from search_proxy.accounts.account import INDEX_NAME
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.grant import OPEN_GRANT, Grant
from search_proxy.caller import Caller
from search_proxy.rate_limits import RateLimits

_LOOPBACK = ("ipv4:127.", "ipv6:[::1]", "ipv6:%5B::1%5D", "unix:")


class CallRefused(Exception):
    """A call that no tool gets to see; `code` is its gRPC status."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerDesk:
    """Admits calls. `index` is asked where a call names none.

    `demo` opens the demo account to this machine.
    """

    accounts: AccountDirectory
    index: str | None = None
    demo: bool = False
    rates: RateLimits = field(default_factory=RateLimits)

    @contextmanager
    def admitted(self, context: Any) -> Iterator[tuple[Caller, str]]:
        """Yield the caller and the index of a call, which counts as in flight until the block ends.

        Raises:
            CallRefused: There is no valid key, it is used too often, or it does not open the index.
        """
        metadata = {name: value for name, value in context.invocation_metadata() or () if value}
        grant = self._grant(metadata, context.peer())
        key = f"{grant.kind} {grant.key_id or grant.account_id}"
        if self.rates.delay(key, grant.per_key) or not self.rates.enter(key, grant.in_flight):
            raise CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls with this key")
        try:
            yield grant.caller(secrets.token_hex(12)), self._index(metadata, grant)
        finally:
            self.rates.leave(key)

    def _grant(self, metadata: Mapping[str, Any], peer: str) -> Grant:
        token = metadata.get("x-api-key")
        scheme, _, bearer = str(metadata.get("authorization", "")).partition(" ")
        if scheme.lower() == "bearer" and bearer.strip():
            token = bearer.strip()
        grant = self.accounts.identify(str(token)) if token else None
        if grant is None and token is None and self.demo and peer.startswith(_LOOPBACK):
            return OPEN_GRANT
        if grant is None:
            raise CallRefused(
                grpc.StatusCode.UNAUTHENTICATED,
                "no valid key: send it in the metadata as 'authorization: Bearer KEY' or as 'x-api-key'",
            )
        return grant

    def _index(self, metadata: Mapping[str, Any], grant: Grant) -> str:
        index = str(metadata.get("x-index") or self.index or "")
        if not index:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, "name the index in the metadata as 'x-index'")
        if INDEX_NAME.match(index) is None or (grant.indexes is not None and index not in grant.indexes):
            raise CallRefused(grpc.StatusCode.NOT_FOUND, f"index {index!r} does not exist")
        return index
