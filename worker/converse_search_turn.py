"""What an agentic search knows of being a turn of a conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from worker.answer import Answer
from worker.planning.plan import Interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPart:
    """A turn as the search sees it.

    A follow-up was read in the light of its thread, so that its first search is settled already; a plain
    one needs no plan. `keep` commits the turn and never raises for the storage.
    """

    answer: Answer
    history: tuple[Interaction, ...]
    is_follow_up: bool
    is_plain: bool
    keep: Callable[[], Awaitable[None]]
