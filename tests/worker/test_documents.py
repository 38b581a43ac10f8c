"""Documents are changed over HTTP by the whole application, not only by a gateway that was given the part."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.shop import open_shop

pytestmark = pytest.mark.anyio


async def test_a_posted_document_is_found_once_its_job_is_done(tmp_path: Path) -> None:
    """And so is nothing that was refused; the job says why. Source: docs/wire-format.md."""
    index = "/api/v1/indexes/demo"
    tent = {"_id": "new", "productTitle": "Zeppelin shelter"}
    async with open_shop(tmp_path) as shop:
        sent = {"documents": [tent, {"_id": "bad", "productTitle": "Zeppelin\x00"}]}
        accepted = await shop.client.post(f"{index}/documents", json=sent)
        assert accepted.status_code == 202, accepted.text
        async with asyncio.timeout(5):
            job: dict[str, Any] = {"status": "queued"}
            while job["status"] == "queued":
                job = (await shop.client.get(f"{index}/jobs/{accepted.json()['jobId']}")).json()
        assert job["status"] == "done"
        assert [item["status"] for item in job["items"]] == [200, 400]
        found = (await shop.client.post(f"{index}/search", json={"q": "zeppelin"})).json()
        assert [hit["_id"] for hit in found["hits"]] == ["new"]
