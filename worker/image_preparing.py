"""Makes of an image the fresh, small JPEG that a model gets; loaded with the first image of a process."""

from __future__ import annotations

from io import BytesIO
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError

from worker.errors import InvalidRequest
from worker.image_headers import read_header
from worker.llm.language_model import InlineImage

_MIME_TYPE: Final = "image/jpeg"
_QUALITY = 85


def prepare_image(name: str, data: bytes, max_side: int) -> InlineImage:
    """Decode, turn upright, shrink and encode anew; runs in a thread.

    Raises:
        InvalidRequest: The image cannot be decoded, or is not of the size that its header says.
    """
    header = read_header(data)
    if header is None:
        raise InvalidRequest(f"{name} must be a PNG, JPEG, WebP or GIF; its first bytes are of none of them")
    try:
        with Image.open(BytesIO(data), formats=(header.format,)) as opened:
            if opened.size != (header.width, header.height):
                raise InvalidRequest(f"{name} has another size than its header says")
            # A JPEG can be decoded at a fraction of its size, which is all that is wanted of it.
            opened.draft("RGB", (max_side, max_side))
            opened.load()
            upright = ImageOps.exif_transpose(opened)
        upright.thumbnail((max_side, max_side))
        return InlineImage(mime_type=_MIME_TYPE, data=_encoded(upright))
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        MemoryError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
    ) as error:
        raise InvalidRequest(f"{name} is not a readable {header.format}") from error


def _encoded(image: Image.Image) -> bytes:
    """Return a JPEG of the pixels alone, on white where the image lets through."""
    pixels = image.convert("RGBA")
    # A new image has no metadata to carry along: no position, no camera, no comment, no profile.
    clean = Image.new("RGB", pixels.size, "white")
    clean.paste(pixels, mask=pixels.getchannel("A"))
    written = BytesIO()
    clean.save(written, format="JPEG", quality=_QUALITY)
    return written.getvalue()
