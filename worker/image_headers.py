"""Reads what an image is and how large it would be, from its first bytes and without decoding it.

The name and type that a client gives are not looked at. A size that a header only claims is checked again
after decoding; here it keeps a small file from becoming a large bitmap.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xDA)}
_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG_SCAN = 0xDA


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """The format, as Pillow calls it, and the size in pixels."""

    format: str
    width: int
    height: int

    @property
    def pixels(self) -> int:
        """Return how many pixels a decoded image has."""
        return self.width * self.height


def read_header(data: bytes) -> ImageHeader | None:
    """Return the header of a PNG, JPEG, WebP or GIF, or None where the bytes are none of them."""
    try:
        if data.startswith(_PNG):
            return _png(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data[:6] in {b"GIF87a", b"GIF89a"}:
            width, height = struct.unpack_from("<HH", data, 6)
            return _header("GIF", width, height)
    except (struct.error, IndexError):
        # The file ends inside its header.
        return None
    return None


def _header(name: str, width: int, height: int) -> ImageHeader | None:
    return ImageHeader(name, width, height) if width > 0 and height > 0 else None


def _png(data: bytes) -> ImageHeader | None:
    length, kind, width, height = struct.unpack_from(">I4sII", data, len(_PNG))
    return _header("PNG", width, height) if kind == b"IHDR" and length == 13 else None


def _jpeg(data: bytes) -> ImageHeader | None:
    position = 2
    while position < len(data):
        if data[position] != 0xFF:
            return None
        while data[position] == 0xFF:
            position += 1
        marker = data[position]
        position += 1
        if marker in _JPEG_WITHOUT_LENGTH:
            continue
        if marker == _JPEG_SCAN:
            return None
        (length,) = struct.unpack_from(">H", data, position)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 3)
            return _header("JPEG", width, height)
        if length < 2:
            return None
        position += length
    return None


def _webp(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width = 1 + int.from_bytes(data[24:27], "little")
        height = 1 + int.from_bytes(data[27:30], "little")
        return _header("WEBP", width, height) if len(data) >= 30 else None
    if kind == b"VP8L":
        if data[20] != 0x2F:
            return None
        (bits,) = struct.unpack_from("<I", data, 21)
        return _header("WEBP", 1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF))
    if kind == b"VP8 ":
        if data[23:26] != b"\x9d\x01\x2a":
            return None
        width, height = struct.unpack_from("<HH", data, 26)
        return _header("WEBP", width & 0x3FFF, height & 0x3FFF)
    return None
