"""What passes the door of one process, counted: answers by kind of path and status, refusals by limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from search_proxy.gateway_policy import PathPolicy

LimitScope = Literal["address", "key_address", "key", "in_flight"]


@dataclass(frozen=True, slots=True)
class EdgeTraffic:
    """Counts since the process started; few keys, whatever is asked."""

    responses: Counter[tuple[str, int]] = field(default_factory=Counter)
    limited: Counter[LimitScope] = field(default_factory=Counter)


def kind_of(policy: PathPolicy) -> str:
    """Return what sort of path a policy stands for: one of five words."""
    if not policy.is_api:
        return "pages"
    if policy.is_forwarded:
        return "agentic"
    if policy.index is not None:
        return "catalog"
    return "admin" if policy.access == "secret" else "public"
