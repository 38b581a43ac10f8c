"""Turns the images of a request into what a model may get: checked, stripped, small.

Everything is bounded before it is decoded: the number of images, the bytes of each and of all, and the
pixels that a header announces. What goes on is a fresh JPEG without metadata, no larger than the model
looks at anyway. Each refusal names the image and the limit.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from search_proxy.first_use import loaded
from worker.errors import InvalidRequest, PayloadTooLarge
from worker.image_fetching import ImageFetcher
from worker.image_headers import read_header
from worker.llm.language_model import InlineImage

MAX_IMAGES = 5
"""Source: flow document, converse."""

CANNOT_SEE_MESSAGE = "I cannot look at pictures here; tell me in words what you are looking for."
"""The answer to pictures where no model is there to see them."""

_DECLARED = re.compile(r"data:(?P<type>[^;,]*)", re.I)
_SAYS_NOTHING = frozenset({"", "application/octet-stream"})
_DECODERS = 2
"""Images decoded at once in a process; one takes some 100 MB for a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLimits:
    """Bounds of a request's images.

    `max_bytes` and `max_total_bytes` count decoded base64; `max_side_sent` is the longer side of what the
    model gets, in pixels.
    """

    max_images: int = MAX_IMAGES
    max_bytes: int = 6 * 1024 * 1024
    max_total_bytes: int = 9 * 1024 * 1024
    max_pixels: int = 25_000_000
    max_total_pixels: int = 60_000_000
    max_side_sent: int = 1_024


class ImageReader:
    """Reads the images of requests; one per process, because it bounds how many are decoded at once."""

    def __init__(self, limits: ImageLimits | None = None, fetcher: ImageFetcher | None = None) -> None:
        self._limits = limits or ImageLimits()
        self._fetcher = fetcher or ImageFetcher()
        self._decoding = asyncio.Semaphore(_DECODERS)

    async def read(
        self, images: Sequence[str] = (), image_urls: Sequence[str] = ()
    ) -> tuple[InlineImage, ...]:
        """Return the images in order, `images` (base64 or data URLs) before `image_urls` (data: or https:).

        Raises:
            InvalidRequest: An image is not what it must be; the message names it.
            PayloadTooLarge: An image, or all of them, are over a limit; the message names both.
        """
        sources = [(f"images[{place}]", text) for place, text in enumerate(images)]
        sources += [(f"imageUrls[{place}]", text) for place, text in enumerate(image_urls)]
        if len(sources) > self._limits.max_images:
            first_too_many, _ = sources[self._limits.max_images]
            raise InvalidRequest(
                f"{first_too_many} is one too many: the request has {len(sources)} images;"
                f" at most {self._limits.max_images} are allowed"
            )
        checked: list[tuple[str, bytes]] = []
        total_bytes = total_pixels = 0
        for name, text in sources:
            data = await self._bytes(name, text)
            total_bytes += len(data)
            if total_bytes > self._limits.max_total_bytes:
                raise PayloadTooLarge(
                    f"with {name} the images have {total_bytes} bytes;"
                    f" at most {self._limits.max_total_bytes} are allowed together"
                )
            total_pixels += check_header(name, data, self._limits)
            check_declared(name, text, data)
            if total_pixels > self._limits.max_total_pixels:
                raise PayloadTooLarge(
                    f"with {name} the images have {total_pixels} pixels;"
                    f" at most {self._limits.max_total_pixels} are allowed together"
                )
            checked.append((name, data))
        return tuple([await self._prepared(name, data) for name, data in checked])

    async def _bytes(self, name: str, text: str) -> bytes:
        if name.startswith("imageUrls") and not text[:5].casefold().startswith("data:"):
            return await self._fetcher.fetch(text, name, self._limits.max_bytes)
        return decode_base64(name, text, self._limits.max_bytes)

    async def _prepared(self, name: str, data: bytes) -> InlineImage:
        async with self._decoding:
            preparing = await loaded("worker.image_preparing")
            prepared: InlineImage = await asyncio.to_thread(
                preparing.prepare_image, name, data, self._limits.max_side_sent
            )
        return prepared


def decode_base64(name: str, text: str, max_bytes: int) -> bytes:
    """Return the bytes of base64 text or of a data URL; standard or URL-safe alphabet, padded or not.

    Raises:
        InvalidRequest: It is not base64.
        PayloadTooLarge: It would have more than `max_bytes`; said before anything is decoded.
    """
    encoded = text
    if text[:5].casefold() == "data:":
        head, comma, encoded = text.partition(",")
        if not comma or not head.casefold().endswith(";base64"):
            raise InvalidRequest(f"{name} must be a data: URL of the form data:image/...;base64,...")
    size = len(encoded) * 3 // 4
    if size > max_bytes + 2:
        raise PayloadTooLarge(f"{name} has about {size} bytes; at most {max_bytes} are allowed")
    plain = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"{name} is not base64") from error
    if len(data) > max_bytes:
        raise PayloadTooLarge(f"{name} has {len(data)} bytes; at most {max_bytes} are allowed")
    return data


def check_header(name: str, data: bytes, limits: ImageLimits) -> int:
    """Return how many pixels the image will have, by its header alone.

    Raises:
        InvalidRequest: It is none of the four formats.
        PayloadTooLarge: It has too many pixels.
    """
    header = read_header(data)
    if header is None:
        raise InvalidRequest(f"{name} must be a PNG, JPEG, WebP or GIF; its first bytes are of none of them")
    if header.pixels > limits.max_pixels:
        raise PayloadTooLarge(
            f"{name} has {header.width} x {header.height} = {header.pixels} pixels;"
            f" at most {limits.max_pixels} are allowed"
        )
    return header.pixels


def check_declared(name: str, text: str, data: bytes) -> None:
    """Refuse a data URL that says it is something else than it is; its bytes alone decide how it is read.

    Raises:
        InvalidRequest: It names another type than that of its first bytes.
    """
    header = read_header(data)
    match = _DECLARED.match(text[:200])
    if header is None or match is None or match["type"].casefold() in _SAYS_NOTHING:
        return
    declared = match["type"].casefold().replace("image/jpg", "image/jpeg")
    if declared != f"image/{header.format.casefold()}":
        raise InvalidRequest(
            f"{name} says that it is {declared!r}, but its first bytes are of a {header.format}"
        )
