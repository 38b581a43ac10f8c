"""Every refusal of a picture over real HTTP: a status of ours that names the picture and the limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.shop import open_shop
from tests.support.talk import CONVERSE
from tests.worker.test_images import claimed_png, encoded, picture

pytestmark = pytest.mark.anyio

GOOD = encoded(picture())
BODY_BYTES = 12 * 1024 * 1024


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"images": [GOOD] * 6}, 400, "images[5] is one too many: the request has 6 images; at most 5"),
        ({"images": [GOOD] * 5, "imageUrls": ["data:;base64," + GOOD]}, 400, "imageUrls[0] is one too many"),
        ({"images": [GOOD, encoded(b"plain text")]}, 400, "images[1] must be a PNG, JPEG, WebP or GIF"),
        ({"images": [encoded(claimed_png(20_000, 20_000))]}, 413, "images[0] has 20000 x 20000"),
        ({"images": [encoded(picture("JPEG", size=(640, 480))[:2000])]}, 400, "images[0] "),
        ({"images": ["@@@"]}, 400, "images[0] is not base64"),
        ({"imageUrls": ["data:text/html;base64," + GOOD]}, 400, "imageUrls[0] says that it is 'text/html'"),
        ({"imageUrls": ["http://127.0.0.1:1/a.png"]}, 400, "imageUrls[0] must be a data: or https: URL"),
        ({"imageUrls": ["https://127.0.0.1:1/a.png"]}, 400, "imageUrls[0] points to host '127.0.0.1'"),
        ({"imageUrls": ["https://shop.example/a.png"]}, 400, "imageUrls[0] points to host 'shop.example'"),
        ({"images": ["A" * (BODY_BYTES - 200)]}, 413, "images[0] has about 9437"),
        ({"images": ["A" * BODY_BYTES]}, 413, "at most 12582912 bytes"),
    ],
)
async def test_a_picture_that_is_refused_is_named(
    tmp_path: Path, body: dict[str, object], status: int, told: str
) -> None:
    """Before the first byte of a stream."""
    async with open_shop(tmp_path) as shop:
        answer = await shop.client.post(CONVERSE, content=json.dumps({"q": "like this"} | body))
    assert (answer.status_code, told in answer.json()["message"]) == (status, True), answer.text[:300]
