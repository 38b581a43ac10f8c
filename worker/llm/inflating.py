"""Undoes the compression of an answer that was asked for plain.

Gateways compress all the same: in several gzip members, in deflate with and without its zlib header.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from worker.llm.language_model import ModelError

MAX_BODY_BYTES = 8_000_000
"""No answer of a model is as long; of an inflated body no more is held."""
_MOST_MEMBERS = 256
_GZIP = 16 + zlib.MAX_WBITS
_ZLIB = zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS


class Inflater:
    """Takes compressed bytes as they come and gives what they hold."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._stream = zlib.decompressobj(_GZIP) if is_gzip else None
        self._begun = b""
        self._members = 1

    def inflate(self, data: bytes) -> bytes:
        """Return what these bytes complete, at most a little more than `MAX_BODY_BYTES`.

        Raises:
            ModelError: They are not compressed as the header says.
        """
        if self._stream is None:
            self._begun += data
            if len(self._begun) < 2:
                return b""
            data, self._begun = self._begun, b""
            has_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._stream = zlib.decompressobj(_ZLIB if has_header else _RAW)
        try:
            inflated = self._stream.decompress(data, MAX_BODY_BYTES + 1)
            while self._is_gzip and self._stream.eof and len(inflated) <= MAX_BODY_BYTES:
                rest = self._stream.unused_data
                if not rest.startswith(b"\x1f\x8b"):
                    break
                self._members += 1
                if self._members > _MOST_MEMBERS:
                    raise ModelError("protocol", f"the model's answer has over {_MOST_MEMBERS} gzip members")
                self._stream = zlib.decompressobj(_GZIP)
                inflated += self._stream.decompress(rest, MAX_BODY_BYTES + 1)
        except zlib.error as error:
            raise ModelError("protocol", "the model's answer is not as compressed as it says") from error
        return inflated


def inflater_for(headers: Mapping[str, str]) -> Inflater | None:
    """Return what reads a body with these headers (names in lower case); None where it is plain.

    Raises:
        ModelError: It is compressed in a way that is not known here.
    """
    written = headers.get("content-encoding", "").lower().split(",")
    codings = [name for each in written if (name := each.strip()) not in ("", "identity")]
    if not codings:
        return None
    if len(codings) == 1 and codings[0] in ("gzip", "x-gzip", "deflate"):
        return Inflater(is_gzip=codings[0] != "deflate")
    told = ", ".join(codings)[:40]
    raise ModelError("protocol", f"the model's answer is compressed with {told!r}", retryable=True)
