"""The vectors of an index: a file of float32 rows, found by the hash of the text that they stand for.

Rows are only ever appended, so readers map the file and look at its length. A product whose text did not
change keeps its vector through every reload. Similarity is exact: one product of the matrix with the query,
over a copy in memory that lies column by column, which is twice as fast as row by row.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson

from search_proxy.engine.columns import Array
from search_proxy.engine.embedder import Embedder
from search_proxy.engine.vector_clusters import group_vectors, read_clusters
from search_proxy.errors import SearchUnavailable

VECTORS = "vectors"
_MATRIX = "matrix.f32"
_HASHES = "hashes.u64"
_META = "meta.json"

GATHER_SHARE = 0.08
GATHER_ROWS = 40_000
"""Below this share, and number, of rows, gathering those of a filter is faster than anything else."""

BLOCK_ROWS = 8_192
"""Rows of one block of the copy in memory: its results stay in a near cache, and making one takes 7 ms."""

_COPIES_PER_FORGETTING = 32


def text_hash(text: str) -> int:
    """Return the 64 bits by which the vector of `text` is found."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


class VectorFile:
    """The vectors of one index, mapped; `position_by_hash` are sorted hashes and where each one's row is."""

    def __init__(self, folder: Path, embedder: Embedder, before: VectorFile | None = None) -> None:
        """Map the vectors; blocks that `before` has already of the same file are taken over.

        Raises:
            SearchUnavailable: They are of another model.
        """
        self._folder = folder / VECTORS
        self.length = stored_vectors(folder)
        check_model(folder, embedder)
        if self.length:
            with (self._folder / _MATRIX).open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            numbers = np.frombuffer(mapped, np.float32, self.length * embedder.dimension)
            self.matrix: Array = numbers.reshape(self.length, embedder.dimension)
            hashes = np.fromfile(self._folder / _HASHES, "<u8", self.length)
        else:
            self.matrix = np.empty((0, embedder.dimension), np.float32)
            mapped = None
            hashes = np.empty(0, "<u8")
        self._pages = _Pages(mapped)
        self.created = _created(self._folder)
        is_same = before is not None and before.created is not None and before.created == self.created
        self._blocks: list[Array] = before.full_blocks(self.length) if before is not None and is_same else []
        self.clusters = read_clusters(self._folder, self.created, self.length)
        if is_same and before is not None and before.clusters is not None and self.clusters is not None:
            self.clusters.take_over(before.clusters)
        if self.clusters is not None:
            self.clusters.on_copied = self._pages.forget
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]

    def positions(self, hashes: Array) -> Array:
        """Return where the vector of each hash is, -1 where there is none yet."""
        if not self.length:
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self._sorted, hashes), self.length - 1)
        return np.where(self._sorted[at] == hashes, self._order[at], -1)

    def similarities(self, query: Array, positions: Array) -> Array:
        """Return the similarity of `query` to the vector at each position."""
        if self.are_few(len(positions)):
            gathered: Array = self.matrix[positions] @ query
            return gathered
        chosen: Array = self.every_similarity(query)[positions]
        return chosen

    def every_similarity(self, query: Array) -> Array:
        """Return the similarity of `query` to every vector, by position."""
        every = np.empty(self.length, np.float32)
        for number in range(-(-self.length // BLOCK_ROWS)):
            start = number * BLOCK_ROWS
            np.matmul(query, self._block(number), out=every[start : start + BLOCK_ROWS])
        return every

    def group(self) -> None:
        """Group the vectors where they have become too many to compare all of them."""
        if self.created is not None:
            group_vectors(self._folder, self.matrix, self.created, self.clusters)

    def are_few(self, rows: int) -> bool:
        """Return whether so many rows are compared faster one by one than with all others."""
        return rows < GATHER_SHARE * self.length and rows <= GATHER_ROWS

    def full_blocks(self, length: int) -> list[Array]:
        """Return the blocks in memory that are as they should be in a file of `length` rows."""
        if length == self.length:
            return self._blocks[:]
        return self._blocks[: min(length, self.length) // BLOCK_ROWS]

    def _block(self, number: int) -> Array:
        """Return one block, column by column; searches that make the same at once make equal ones."""
        if number >= len(self._blocks):
            start = number * BLOCK_ROWS
            made = np.ascontiguousarray(self.matrix[start : start + BLOCK_ROWS].T)
            self._pages.forget()
            if number == len(self._blocks):
                self._blocks.append(made)
            return made
        return self._blocks[number]


class _Pages:
    """The file's pages in this process's memory."""

    def __init__(self, mapped: mmap.mmap | None) -> None:
        self._mapped = mapped
        self._copied = 0

    def forget(self) -> None:
        """Leave pages that were copied to the system's cache, now and then; who needs one reads it again."""
        self._copied += 1
        if self._mapped is not None and self._copied % _COPIES_PER_FORGETTING == 0:
            self._mapped.madvise(mmap.MADV_DONTNEED)


def _created(vectors: Path) -> str | None:
    """Return what tells these vectors from those that replace them."""
    try:
        created: str | None = orjson.loads((vectors / _META).read_bytes()).get("created")
    except FileNotFoundError:
        return None
    return created


def stored_vectors(folder: Path) -> int:
    """Return how many vectors the index has; a row that was being written when its writer died is not one."""
    try:
        return os.stat(folder / VECTORS / _HASHES).st_size // 8
    except FileNotFoundError:
        return 0


def check_model(folder: Path, embedder: Embedder) -> None:
    """Refuse vectors of another model.

    Raises:
        SearchUnavailable: The message names both models and the command that embeds again.
    """
    try:
        meta = orjson.loads((folder / VECTORS / _META).read_bytes())
    except FileNotFoundError:
        return
    if (meta["model"], meta["dimension"]) != (embedder.model, embedder.dimension):
        raise SearchUnavailable(
            f"index {folder.name!r} has vectors of {meta['model']!r} ({meta['dimension']}), not of"
            f" {embedder.model!r} ({embedder.dimension}); run `aisle catalog embed {folder.name} --rebuild`"
        )


@contextmanager
def appending(folder: Path, embedder: Embedder, *, again: bool) -> Iterator[VectorAppender]:
    """Open the index's vectors for appending, one process at a time; `again` starts from none.

    Raises:
        SearchUnavailable: The index has vectors of another model, and `again` is false; or another process
            is embedding it now.
    """
    vectors = folder / VECTORS
    with (folder.parent / f".{folder.name}.vectors.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SearchUnavailable(f"another process is embedding index {folder.name!r} already") from error
        if again and vectors.exists():
            shutil.rmtree(vectors)
        check_model(folder, embedder)
        vectors.mkdir(exist_ok=True)
        if not (vectors / _META).exists():
            created = secrets.token_hex(6)
            meta = {"model": embedder.model, "dimension": embedder.dimension, "created": created}
            (vectors / _META).write_bytes(orjson.dumps(meta))
        yield VectorAppender(vectors, stored_vectors(folder), embedder.dimension)


class VectorAppender:
    """Appends vectors: first the rows, then the hashes that make them count."""

    def __init__(self, folder: Path, length: int, dimension: int) -> None:
        self._folder = folder
        self._length = length
        self._dimension = dimension

    def append(self, hashes: Array, rows: Array) -> None:
        """Append one batch and flush it to disk.

        Raises:
            SearchUnavailable: The embedder returned something else than one row of its dimension per text.
        """
        if rows.shape != (len(hashes), self._dimension) or not np.isfinite(rows).all():
            wanted = (len(hashes), self._dimension)
            raise SearchUnavailable(f"the embedder returned {rows.shape} numbers, not {wanted} finite ones")
        self._write(_MATRIX, np.ascontiguousarray(rows, np.float32).tobytes(), self._dimension * 4)
        self._write(_HASHES, hashes.astype("<u8").tobytes(), 8)
        self._length += len(hashes)

    def _write(self, name: str, content: bytes, width: int) -> None:
        with (self._folder / name).open("ab") as file:
            # What a dead writer left half done is overwritten.
            file.truncate(self._length * width)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
