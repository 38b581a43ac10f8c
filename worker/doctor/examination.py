"""Looks at all parts in order; a look that fails or takes too long is a finding itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from search_proxy.caller import Caller
from worker.doctor.findings import Finding
from worker.doctor.recent_requests import RecentRequests
from worker.services import Services

logger = logging.getLogger(__name__)

LOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is examined: the services for one caller, and what they want to know more of.

    `recent` is None outside a server. `asks_model` allows one call of a token. `is_operator` may know of the
    machine itself, which other tenants share.
    """

    services: Services
    caller: Caller
    recent: RecentRequests | None = None
    index: str | None = None
    query: str | None = None
    session: str | None = None
    conversation: str | None = None
    asks_model: bool = False
    is_operator: bool = False


Look = Callable[[Examined], Awaitable[Sequence[Finding]]]


async def examine(examined: Examined, looks: Sequence[tuple[str, Look]]) -> list[Finding]:
    """Return the findings of all looks, in their order."""
    findings: list[Finding] = []
    for part, look in looks:
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                findings += await look(examined)
        except TimeoutError:
            findings.append(_blind(part, f"no answer within {LOOK_SECONDS:g} s"))
        except Exception as error:
            logger.exception("doctor_look_failed", extra={"part": part})
            findings.append(_blind(part, f"{type(error).__name__}: {error}"))
    return findings


def _blind(part: str, why: str) -> Finding:
    return Finding(
        part=part,
        level="fail",
        looked_at=f"the {part}",
        found=f"it could not be looked at: {why}",
        advice="the log has the reason under doctor_look_failed",
    )
