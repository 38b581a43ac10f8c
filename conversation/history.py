"""Past turns as a sequence that decodes each when it is looked at: a turn rarely needs more than the last.

The last one is decoded at once, so that a damaged conversation is refused before anything builds on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from conversation.interaction import Interaction, decode_interaction
from conversation.storage import StoredTurn


class History(Sequence[Interaction]):
    """Turns, oldest first; looking at one that cannot be read raises `StorageDamaged`."""

    __slots__ = ("_decoded", "_turns")

    def __init__(self, turns: Sequence[StoredTurn] = ()) -> None:
        self._turns = turns
        self._decoded: dict[int, Interaction] = {}
        if turns:
            self._at(len(turns) - 1)

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, index: int) -> Interaction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Interaction]: ...
    def __getitem__(self, index: int | slice) -> Interaction | Sequence[Interaction]:
        """Return a turn, or several."""
        places = range(len(self._turns))[index]
        return self._at(places) if isinstance(places, int) else tuple(map(self._at, places))

    def __iter__(self) -> Iterator[Interaction]:
        return map(self._at, range(len(self._turns)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(turn.number for turn in self._turns))

    def __repr__(self) -> str:
        return f"<History of {len(self)} turns>"

    def _at(self, place: int) -> Interaction:
        found = self._decoded.get(place)
        if found is None:
            turn = self._turns[place]
            found = decode_interaction(turn.body, number=turn.number, created_at=turn.created_at)
            self._decoded[place] = found
        return found
