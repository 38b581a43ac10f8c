"""The seam of the view gate: of the hits that are about to leave, which may this caller see.

A gate only ever takes away. What it cannot decide it must not let through: it raises, and the page is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class ViewGateFailed(Exception):
    """The gate could not decide; `reason` is one word for logs, such as `timeout`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Who looks at what. Without a `generation` of the index nothing may be remembered of an answer."""

    account_id: str
    index: str
    groups: frozenset[str]
    generation: str | None
    request_id: str = ""


class ViewGate(Protocol):
    """Decides about hits that retrieval and ranking have let through."""

    async def allowed(self, view: View, hits: Sequence[Mapping[str, Any]]) -> frozenset[str]:
        """Return which of the hits, by `_id`, may be seen; an id that is not there may not.

        Implementations MUST decide for each hit by the groups of `view` alone, within their own deadline.

        Raises:
            ViewGateFailed: It cannot be decided.
        """
        ...


class ShutGate:
    """Lets nothing through: what stands where the gate that an account has chosen is not to be had."""

    def __init__(self, reason: str, message: str) -> None:
        self._reason = reason
        self._message = message

    async def allowed(self, view: View, hits: Sequence[Mapping[str, Any]]) -> frozenset[str]:
        """Raise `ViewGateFailed`, always."""
        raise ViewGateFailed(self._reason, self._message)
