"""A process that embeds an index and is killed in its second batch: `python -m ... DATA_DIR`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search_proxy.backends.embedded import open_embedded
from tests.search_proxy.engine.word_embedder import WordEmbedder


class FatalEmbedder(WordEmbedder):
    """Embeds one batch; the second one is the end of the process."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed, or die without a chance to clean up."""
        if self.asked:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts)


async def _embed(data_dir: Path) -> None:
    async with open_embedded(data_dir, FatalEmbedder()) as engine:
        await engine.embed_missing("acme", "shop")


if __name__ == "__main__":
    asyncio.run(_embed(Path(sys.argv[1])))
