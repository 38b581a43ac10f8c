"""Who is asking, as the gateway has established it. Everything behind the gateway takes it as given."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from search_proxy.filters import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller: the account comes from the key, never from a body.

    `forced_filter` is ANDed to every search, get and facet of this caller. `groups` are the customer
    groups of a signed key: they open what documents keep for them. `key_kind` "open" is the demo account on
    the loopback.
    """

    account_id: str
    key_kind: Literal["open", "public_id", "publishable", "secret"]
    key_id: str = ""
    groups: frozenset[str] = frozenset()
    forced_filter: Filter | None = None
    indexes: frozenset[str] | None = None
    request_id: str = ""

    @property
    def is_owner(self) -> bool:
        """Whether the account itself asks, which sees all its documents; a key with groups is a shopper's."""
        return self.key_kind in ("secret", "open") and not self.groups

    @property
    def rights(self) -> str:
        """What this caller may see, as a text that is equal for equal rights."""
        if self.is_owner and self.forced_filter is None and self.indexes is None:
            return "owner"
        indexes = "all" if self.indexes is None else sorted(self.indexes)
        kind = "owner" if self.is_owner else "shopper"
        text = repr((kind, sorted(self.groups), str(self.forced_filter or ""), indexes))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
