"""A feed's bytes: opened, decompressed where needed, and cut into lines, in bounded memory.

A gzip file that ends early or is damaged gives what could be read of it; `damage` says so afterwards.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from search_proxy.feeds.records import MAX_LINE_BYTES, FeedError, Refusal, quoted

_CHUNK_BYTES = 262_144
_GZIP_MARK = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WITH_GZIP_HEADER = 31
_OTHER_FILES = {
    b"PK\x03\x04": "a ZIP or Excel file; save the sheet as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"%PDF": "a PDF file",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save the sheet as CSV",
    b"(\xb5/\xfd": "zstd-compressed; decompress it or use gzip",
    b"BZh": "bzip2-compressed; decompress it or use gzip",
    b"\xfd7zXZ": "xz-compressed; decompress it or use gzip",
}

Line = tuple[int, bytes | None]
"""A line's number from 1 and its bytes without the line end; None where the line is too long to keep."""


class FeedFile:
    """Reads one file once, from its start.

    `head` is its beginning, at most 256 KiB; `bytes_read` counts the file's own (compressed) bytes.
    """

    def __init__(self, path: Path) -> None:
        """Open the file and read its head.

        Raises:
            FeedError: There is no such file, it cannot be read, it is empty, or it is no text.
        """
        self.path = path
        self.bytes_read = 0
        self.damage: str | None = None
        try:
            self.total_bytes = path.stat().st_size
            self._chunks = self._decompressed()
            self.head = next(self._chunks, b"").removeprefix(_BYTE_ORDER_MARK)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise FeedError(f"feed {quoted(str(path))} cannot be read: {reason}") from error
        self._refuse_other_files()

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in pieces, the head first."""
        yield self.head
        yield from self._chunks

    def lines(self) -> Iterator[Line]:
        """Yield every line; a last line that a damaged file cut off is left out."""
        number, tail, skipping = 1, b"", False
        for chunk in self.chunks():
            first, *rest = chunk.split(b"\n")
            if not rest:
                tail = b"" if skipping else tail + first
                if len(tail) > MAX_LINE_BYTES:
                    tail, skipping = b"", True
                continue
            pieces = [tail + first, *rest]
            tail = pieces.pop()
            for piece in pieces:
                too_long = skipping or len(piece) > MAX_LINE_BYTES
                yield number, None if too_long else piece.removesuffix(b"\r")
                number, skipping = number + 1, False
        if not self.damage and (tail or skipping):
            yield number, None if skipping else tail.removesuffix(b"\r")

    def damage_refusal(self, line: int) -> Iterator[Refusal]:
        """Yield one refusal if the file turned out to be damaged; `line` is the last that was read."""
        if self.damage:
            yield Refusal(line=line + 1, field=None, reason=self.damage, kind="damaged_file")

    def _decompressed(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            chunk = self._read(file.read(_CHUNK_BYTES))
            if not chunk.startswith(_GZIP_MARK):
                while chunk:
                    yield chunk
                    chunk = self._read(file.read(_CHUNK_BYTES))
                return
            inflater = zlib.decompressobj(_WITH_GZIP_HEADER)
            while chunk:
                try:
                    text = inflater.decompress(chunk, _CHUNK_BYTES)
                except zlib.error:
                    self.damage = "the gzip file is damaged here; what follows could not be read"
                    return
                if text:
                    yield text
                chunk = inflater.unconsumed_tail
                if inflater.eof:
                    chunk = inflater.unused_data or self._read(file.read(_CHUNK_BYTES))
                    if chunk.strip(b"\0"):
                        inflater = zlib.decompressobj(_WITH_GZIP_HEADER)
                    else:
                        return
                elif not chunk:
                    chunk = self._read(file.read(_CHUNK_BYTES))
            self.damage = "the gzip file ends early; what follows is missing"

    def _read(self, data: bytes) -> bytes:
        self.bytes_read += len(data)
        return data

    def _refuse_other_files(self) -> None:
        name = quoted(str(self.path))
        if not self.head.strip():
            raise FeedError(f"feed {name}: {self.damage}" if self.damage else f"feed {name} is empty")
        for mark, kind in _OTHER_FILES.items():
            if self.head.startswith(mark):
                raise FeedError(f"feed {name} is {kind}")
