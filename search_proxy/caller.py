"""Who is asking, as the gateway has established it. Everything behind the gateway takes it as given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from search_proxy.filters import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller: the account comes from the key, never from a body.

    `forced_filter` is ANDed to every search, get and facet of this caller. `groups` are the customer
    groups of a signed key. `key_kind` "open" is the demo account on the loopback.
    """

    account_id: str
    key_kind: Literal["open", "public_id", "publishable", "secret"]
    key_id: str = ""
    groups: frozenset[str] = frozenset()
    forced_filter: Filter | None = None
    indexes: frozenset[str] | None = None
    request_id: str = ""
