"""Cuts a byte stream into the data of its server-sent events.

Comments, `event:`, `id:` and `retry:` lines that a gateway adds are dropped, and so is `[DONE]`; a
missing blank after `data:` is fine, and so is a byte order mark. Characters cut by the network stay whole,
since only line ends matter here. Source: WHATWG HTML, event stream interpretation.
"""

from __future__ import annotations

from worker.llm.language_model import ModelError

MAX_EVENT_BYTES = 1_000_000
"""One event of a plan or a summary is under 2 KB; a megabyte is somebody else's protocol."""


class SseDecoder:
    """Takes bytes as they come and gives the data of every event that they complete."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._held_bytes = 0
        self._after_cr = False
        self._is_first = True

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of each event completed by these bytes.

        Raises:
            ModelError: An event is larger than any that the model sends.
        """
        end = len(received) - 4
        if (
            received.startswith(b"data: {")
            and received.endswith(b"\r\n\r\n")
            and received.find(b"\r") == end
            and received.find(b"\n") == end + 1
            and end <= MAX_EVENT_BYTES
            and not (self._line or self._data or self._after_cr)
        ):
            # One JSON object on one line: nearly every read of the socket brings just that.
            self._is_first, self._held_bytes = False, 0
            return [received[6:end]]
        if self._after_cr and received[:1] == b"\n":
            received = received[1:]
        self._after_cr = received[-1:] == b"\r"
        if not received:
            return []
        lines = received.splitlines()
        unfinished = lines.pop() if received[-1:] not in (b"\n", b"\r") else None
        complete: list[bytes] = []
        for line in lines:
            if self._line:
                line = b"".join((*self._line, line))
                self._line.clear()
            self._take(line, complete)
        if unfinished is not None:
            self._line.append(unfinished)
        self._held_bytes = 0 if complete else self._held_bytes + len(received)
        if self._held_bytes > MAX_EVENT_BYTES:
            raise ModelError("protocol", f"an event of the model's stream exceeds {MAX_EVENT_BYTES} bytes")
        return complete

    def flush(self) -> list[bytes]:
        """Return the data of an event that the stream's end cut off before its blank line."""
        complete: list[bytes] = []
        if self._line:
            self._take(b"".join(self._line), complete)
            self._line.clear()
        self._take(b"", complete)
        return complete

    def _take(self, line: bytes, complete: list[bytes]) -> None:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line and self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            self._data.clear()
            if data.strip() not in (b"", b"[DONE]"):
                complete.append(data)
