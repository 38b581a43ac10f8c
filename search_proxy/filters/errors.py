"""The one error of the filter language."""

from __future__ import annotations


class FilterSyntaxError(ValueError):
    """A filter string does not follow the grammar.

    The message has the text, a caret under the character at `position` (0-based), and what was expected.
    """

    def __init__(self, text: str, position: int, expected: str) -> None:
        super().__init__(f"{text}\n{' ' * position}^\nat position {position}: {expected}")
        self.text = text
        self.position = position
        self.expected = expected
