"""The body of one streamed answer: from its bytes to events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worker.llm.answer_payloads import AnswerPayloads, load_json
from worker.llm.gemini_chunks import ChunkReader
from worker.llm.language_model import Finish, ModelError, ModelEvent


class AnswerBody:
    """Takes bytes as they come and gives the events that they complete to `give`.

    `has_finish` says whether the model has said why it stopped.
    """

    def __init__(self, headers: Mapping[str, str], give: Callable[[ModelEvent], None]) -> None:
        self.has_finish = False
        self._give = give
        self._reader = ChunkReader()
        self._payloads = AnswerPayloads(headers)

    def take(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            ModelError: They are no answer of the model, or say that it failed.
        """
        for payload in self._payloads.feed(data):
            self._read(payload)

    def end(self) -> None:
        """Take the end of the body.

        Raises:
            ModelError: As `take`.
        """
        for payload in self._payloads.end():
            self._read(payload)

    def finish(self) -> Finish:
        """Return how the answer ended.

        Raises:
            ModelError: Nothing said why the model stopped, so the answer may be cut.
        """
        return self._reader.end()

    def _read(self, payload: bytes) -> None:
        try:
            chunk = load_json(payload)
        except ModelError:
            if self.has_finish:
                return
            raise
        reader = self._reader
        reader.give(chunk if isinstance(chunk, dict) else {}, self._give)
        self.has_finish = reader.finish is not None
