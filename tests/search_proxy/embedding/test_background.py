"""The job that embeds behind searches: what it finds by itself, what a failure does, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.embedding.background import (
    RETRY_SECONDS,
    BackgroundEmbedding,
    EmbeddingProgress,
    open_background_embedding,
)
from search_proxy.engine.embedding_run import TEXTS_PER_APPEND
from search_proxy.models import SearchRequest
from tests.search_proxy.engine.word_embedder import WordEmbedder

pytestmark = pytest.mark.anyio

_ROOT = Path(__file__).resolve().parents[3]
_SHOP = ("acme", "shop")
_PRODUCTS = [{"_id": "dome", "productTitle": "Dome tent"}, {"_id": "tarp", "productTitle": "Storm shelter"}]


class GatedEmbedder(WordEmbedder):
    """Embeds products only while the gate is open; queries always."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.has_begun = threading.Event()
        self.batches = 0

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Wait for the gate, then embed."""
        self.batches += 1
        self.has_begun.set()
        assert self.gate.wait(5)
        return super().embed(texts)

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Embed at once."""
        vector: npt.NDArray[np.float32] = WordEmbedder().embed([query])[0]
        return vector


async def _look(job: BackgroundEmbedding) -> EmbeddingProgress:
    async with asyncio.timeout(5):
        await job.look_now()
    return job.progress[_SHOP]


async def _found(engine: EmbeddedBackend, query: str) -> list[str]:
    return [hit["_id"] for hit in (await engine.search("acme", SearchRequest(index="shop", q=query))).hits]


async def test_a_load_is_embedded_without_being_asked_for(tmp_path: Path) -> None:
    """What was there before the start, and what another engine writes later; each text once."""
    embedder = GatedEmbedder()
    async with open_embedded(tmp_path, embedder) as engine, open_embedded(tmp_path) as other:
        await other.add_documents(*_SHOP, _PRODUCTS[:1])
        async with open_background_embedding(engine, tmp_path / "indexes", look_every_seconds=0.01) as job:
            assert await asyncio.to_thread(embedder.has_begun.wait, 5)
            embedder.has_begun.clear()
            embedder.gate.set()
            await other.add_documents(*_SHOP, _PRODUCTS)
            assert await asyncio.to_thread(embedder.has_begun.wait, 5)
            assert (await _look(job)).state == "done"
        assert await _found(engine, "tent") == ["dome", "tarp"]
    assert embedder.asked == ["Dome tent", "Storm shelter"]


async def test_a_job_that_is_told_looks_at_once(tmp_path: Path) -> None:
    """Nobody waits for its next turn after a load in this process."""
    async with (
        open_embedded(tmp_path, WordEmbedder()) as engine,
        open_background_embedding(engine, tmp_path / "indexes", look_every_seconds=3_600) as job,
    ):
        await engine.add_documents(*_SHOP, _PRODUCTS)
        assert (await _look(job)).of == 2


async def test_searches_go_on_while_it_embeds(tmp_path: Path) -> None:
    """By text, until the vectors are there; the progress says how many are missing."""
    embedder = GatedEmbedder()
    async with open_embedded(tmp_path, embedder) as engine:
        await engine.add_documents(*_SHOP, _PRODUCTS)
        async with open_background_embedding(engine, tmp_path / "indexes") as job:
            assert await asyncio.to_thread(embedder.has_begun.wait, 5)
            progress = job.progress[_SHOP]
            assert (progress.state, progress.done, progress.of) == ("running", 0, 2)
            assert await _found(engine, "tent") == ["dome"]
            embedder.gate.set()
            assert (await _look(job)).state == "done"
            assert await _found(engine, "tent") == ["dome", "tarp"]


async def test_ending_the_job_ends_the_run_after_the_batch_in_hand(tmp_path: Path) -> None:
    """What is done counts; the next job goes on from there."""
    embedder = GatedEmbedder()
    documents = [{"_id": str(number), "productTitle": f"Tent {number}"} for number in range(1_200)]
    stopped = threading.Event()
    async with open_embedded(tmp_path, embedder) as engine:
        await engine.add_documents(*_SHOP, documents)
        async with open_background_embedding(engine, tmp_path / "indexes", on_stop=stopped.set):
            assert await asyncio.to_thread(embedder.has_begun.wait, 5)
        assert stopped.is_set()
        embedder.gate.set()
    assert embedder.batches == 1
    async with (
        open_embedded(tmp_path, embedder) as engine,
        open_background_embedding(engine, tmp_path / "indexes") as job,
    ):
        await _look(job)
        assert (await engine.describe(*_SHOP)).embedded_documents == 1_200
    assert len(embedder.asked) == len(set(embedder.asked)) == 1_200


async def test_a_process_that_was_killed_loses_the_batch_in_hand_alone(tmp_path: Path) -> None:
    """The next one begins with it; its lock went with the process."""
    documents = [{"_id": str(number), "productTitle": f"Tent {number}"} for number in range(1_200)]
    async with open_embedded(tmp_path) as engine:
        await engine.add_documents(*_SHOP, documents)
    module = "tests.search_proxy.embedding.killed_run"
    killed = await asyncio.create_subprocess_exec(sys.executable, "-m", module, str(tmp_path), cwd=_ROOT)
    async with asyncio.timeout(30):
        assert await killed.wait() == -signal.SIGKILL
    embedder = WordEmbedder()
    async with (
        open_embedded(tmp_path, embedder) as engine,
        open_background_embedding(engine, tmp_path / "indexes") as job,
    ):
        await _look(job)
        assert (await engine.describe(*_SHOP)).embedded_documents == 1_200
    assert len(embedder.asked) == 1_200 - TEXTS_PER_APPEND


async def test_one_index_that_fails_does_not_keep_others_from_being_embedded(tmp_path: Path) -> None:
    """Vectors of another model are not mixed; the progress repeats the way out."""
    async with open_embedded(tmp_path, WordEmbedder("old")) as engine:
        await engine.add_documents(*_SHOP, _PRODUCTS)
        await engine.embed_missing(*_SHOP)
        await engine.add_documents("acme", "zoo", _PRODUCTS)
    async with (
        open_embedded(tmp_path, WordEmbedder("new")) as engine,
        open_background_embedding(engine, tmp_path / "indexes") as job,
    ):
        failed = await _look(job)
        assert (await engine.describe("acme", "zoo")).embedded_documents == 2
    assert failed.state == "failed"
    assert failed.error is not None
    assert "aisle catalog embed shop --rebuild" in failed.error


async def test_what_failed_is_tried_again_after_a_while(tmp_path: Path) -> None:
    """And not before, as long as the index is the same."""
    embedder, now = WordEmbedder(), [0.0]
    embedder.is_down = True
    async with open_embedded(tmp_path, embedder) as engine:
        await engine.add_documents(*_SHOP, _PRODUCTS)
        job = BackgroundEmbedding(engine, tmp_path / "indexes", clock=lambda: now[0])
        async with asyncio.TaskGroup() as group:
            running = group.create_task(job.run(), name="job")
            assert (await _look(job)).error == "the model is down"
            embedder.is_down = False
            now[0] = RETRY_SECONDS - 1
            assert (await _look(job)).state == "failed"
            now[0] = RETRY_SECONDS
            assert (await _look(job)).of == 2
            running.cancel()


async def test_an_index_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    """Progress is kept for what there is."""
    async with (
        open_embedded(tmp_path, WordEmbedder()) as engine,
        open_background_embedding(engine, tmp_path / "indexes", look_every_seconds=3_600) as job,
    ):
        await engine.add_documents(*_SHOP, _PRODUCTS)
        await _look(job)
        await engine.delete_index(*_SHOP)
        async with asyncio.timeout(5):
            await job.look_now()
        assert dict(job.progress) == {}
