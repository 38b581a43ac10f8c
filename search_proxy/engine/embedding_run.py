"""Embeds what has no vector yet, batch by batch; searches go on meanwhile and see every batch that is done.

A run that is stopped goes on where it was: what has a vector, by the hash of its text, is not embedded again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson

from search_proxy.engine.columns import Array
from search_proxy.engine.embedder import Embedder, embedded_text
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.vectors import VectorFile, appending

TEXTS_PER_APPEND = 512
"""About a second of a small model: what a run that is killed loses, and how soon one that is stopped ends."""

Progress = Callable[[int, int], None]
"""Told after every append: how many are done, and of how many. To stop the run, it raises."""


def embed_missing(folder: Path, embedder: Embedder, progress: Progress, *, again: bool = False) -> int:
    """Embed every text of the index that has no vector and return how many there were.

    Raises:
        FileNotFoundError: There is no index in `folder`.
        SearchUnavailable: The index has vectors of another model and `again` is false, or the model failed.
    """
    _, snapshot = open_snapshot(folder)
    with appending(folder, embedder, again=again) as vectors:
        rows = _missing_rows(snapshot, VectorFile(folder, embedder))
        done = 0
        progress(0, len(rows))
        for start in range(0, len(rows), TEXTS_PER_APPEND):
            part = rows[start : start + TEXTS_PER_APPEND]
            texts = [embedded_text(orjson.loads(snapshot.body(int(row)))) for row in part]
            vectors.append(snapshot.text_hashes[part], embedder.embed(texts))
            done += len(part)
            progress(done, len(rows))
        VectorFile(folder, embedder).group()
    return done


def _missing_rows(snapshot: Snapshot, vectors: VectorFile) -> Array:
    """Return one living row for every text without a vector."""
    living = np.flatnonzero(snapshot.live)
    missing = living[vectors.positions(snapshot.text_hashes[living]) < 0]
    _, first = np.unique(snapshot.text_hashes[missing], return_index=True)
    chosen: Array = missing[np.sort(first)]
    return chosen
