"""Collects the text and the cost of one model call that is read event by event."""

from __future__ import annotations

from worker.llm.language_model import ModelError, ModelEvent, TextDelta, Usage
from worker.planning.plan import TokenUsage


class HeardAnswer:
    """What a call has said so far; a failed one has said something, too.

    `what` names in the error what an answer longer than `max_characters` cannot be.
    """

    def __init__(self, *, max_characters: int, what: str) -> None:
        self.text = ""
        self.usage = TokenUsage()
        self._max_characters = max_characters
        self._what = what

    def take(self, event: ModelEvent) -> None:
        """Take one event.

        Raises:
            ModelError: The answer is too long.
        """
        if isinstance(event, TextDelta):
            self.text += event.text
            if len(self.text) > self._max_characters:
                raise ModelError("protocol", f"the model's answer is far longer than {self._what}")
        elif isinstance(event, Usage):
            self.usage = event.usage
