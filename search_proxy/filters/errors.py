"""The one error of the filter language."""

from __future__ import annotations

_BEFORE = 60
_AFTER = 40


class FilterSyntaxError(ValueError):
    """A filter string does not follow the grammar.

    The message has the text, a caret under the character at `position` (0-based), and what was expected.
    Of a long text it shows the neighbourhood of the position; `text` has all of it.
    """

    def __init__(self, text: str, position: int, expected: str) -> None:
        line, column = _neighbourhood(text, position)
        super().__init__(f"{line}\n{' ' * column}^\nat position {position}: {expected}")
        self.text = text
        self.position = position
        self.expected = expected


def _neighbourhood(text: str, position: int) -> tuple[str, int]:
    start = max(0, position - _BEFORE)
    end = min(len(text), position + _AFTER)
    prefix = "…" if start else ""
    suffix = "…" if end < len(text) else ""
    # One character for one character, so that the caret stays where it belongs.
    shown = "".join(character if character.isprintable() else "·" for character in text[start:end])
    return f"{prefix}{shown}{suffix}", position - start + len(prefix)
