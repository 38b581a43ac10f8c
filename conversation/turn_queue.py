"""Who may act on one object: strictly in the order of arrival, whoever leaves and whenever.

Arriving is synchronous, so the order is that of the calls; waiting comes later, or never. A turn that
leaves while it still waits takes its place with it and lets nobody overtake.
"""

from __future__ import annotations

import asyncio
from collections import deque

from conversation.errors import ConversationBusy

MAX_WAITING = 16
"""Turns of one conversation at once: a person types one at a time, so this is a client in a loop."""


class TurnQueue:
    """A first-come-first-served queue whose head may act."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: deque[asyncio.Event] = deque()

    def __len__(self) -> int:
        return len(self._places)

    def arrive(self) -> asyncio.Event:
        """Take the last place; the returned event is set when it has become the first.

        Raises:
            ConversationBusy: Too many are waiting.
        """
        if len(self._places) > MAX_WAITING:
            raise ConversationBusy(f"{MAX_WAITING} turns of this conversation are waiting already")
        place = asyncio.Event()
        self._places.append(place)
        self._call_first()
        return place

    def leave(self, place: asyncio.Event) -> None:
        """Give the place up, wherever in the queue it is."""
        self._places.remove(place)
        self._call_first()

    def _call_first(self) -> None:
        if self._places:
            self._places[0].set()
