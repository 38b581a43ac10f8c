"""The vectors of an index: a file of float32 rows, found by the hash of the text that they stand for.

Rows are only ever appended, so readers map the file and look at its length. A product whose text did not
change keeps its vector through every reload. Beside the vectors are their codes, a byte for each number, by
which a search chooses those that it compares.
"""

from __future__ import annotations

import fcntl
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
from search_proxy.engine.vector_clusters import EXACT_UP_TO, group_vectors, grouped_at, read_clusters
from search_proxy.engine.vector_codes import StoredCodes, append_codes, mapped_array, stored_codes
from search_proxy.errors import SearchUnavailable

VECTORS = "vectors"
_MATRIX = "matrix.f32"
_HASHES = "hashes.u64"
_META = "meta.json"

_GATHERED_AT_ONCE = 2_048
_CODED_AT_ONCE = 8_192


def text_hash(text: str) -> int:
    """Return the 64 bits by which the vector of `text` is found."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


class VectorFile:
    """The vectors of one index, mapped; `position_by_hash` are sorted hashes and where each one's row is."""

    def __init__(self, folder: Path, embedder: Embedder, before: VectorFile | None = None) -> None:
        """Map the vectors; what `before` has in memory of the same file is taken over.

        Raises:
            SearchUnavailable: They are of another model.
        """
        self._index = folder
        self._folder = folder / VECTORS
        check_model(folder, embedder)
        self.created = _created(self._folder)
        self._map(stored_vectors(folder), embedder.dimension, before)
        while (created := _created(self._folder)) != self.created:
            # All were made anew meanwhile, and what was mapped may be some of these and some of those.
            self.created = created
            self._map(stored_vectors(folder), embedder.dimension, before)

    def _map(self, length: int, dimension: int, before: VectorFile | None) -> None:
        self.length = length
        self.matrix: Array = np.empty((0, dimension), np.float32)
        hashes: Array = np.empty(0, "<u8")
        if length:
            self.matrix = mapped_array(self._folder / _MATRIX, np.float32, length, dimension)
            hashes = np.fromfile(self._folder / _HASHES, "<u8", length)
        is_same = before is not None and before.created is not None and before.created == self.created
        self.codes: StoredCodes = StoredCodes(
            self._folder, self.matrix, before.codes if is_same and before else None
        )
        self._grouped_at = grouped_at(self._folder)
        self.clusters = read_clusters(self._folder, self.created, length)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]

    def is_current(self) -> bool:
        """Return whether no vectors, and no codes or groups that were missing, were written since."""
        if stored_vectors(self._index) != self.length:
            return False
        if self.codes.stored < self.length and self.codes.stored < stored_codes(
            self._folder, self.matrix.shape[1]
        ):
            return False
        return self.length <= EXACT_UP_TO or grouped_at(self._folder) == self._grouped_at

    def positions(self, hashes: Array) -> Array:
        """Return where the vector of each hash is, -1 where there is none yet."""
        if not self.length:
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self._sorted, hashes), self.length - 1)
        return np.where(self._sorted[at] == hashes, self._order[at], -1)

    def similarities(self, query: Array, positions: Array) -> Array:
        """Return the similarity of `query` to the vector at each position; of equal vectors it is equal."""
        similar = np.empty(len(positions), np.float32)
        for start in range(0, len(positions), _GATHERED_AT_ONCE):
            part = positions[start : start + _GATHERED_AT_ONCE]
            # Row by row: a product of all rows with the query rounds a row differently at another place.
            np.vecdot(self.matrix[part], query, out=similar[start : start + len(part)])
        return similar

    def group(self) -> None:
        """Group the vectors where they have become too many to compare all of them."""
        if self.created is not None:
            group_vectors(self._folder, self.matrix, self.created, self.clusters)


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
        self._coded = min(stored_codes(folder, dimension), length)
        self._add_codes()

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
        self._add_codes()

    def _add_codes(self) -> None:
        """Write the codes of all vectors that have none yet; those of an earlier version have none."""
        while self._coded < self._length:
            stop = min(self._coded + _CODED_AT_ONCE, self._length)
            matrix = mapped_array(self._folder / _MATRIX, np.float32, stop, self._dimension)
            append_codes(self._folder, matrix[self._coded :], self._coded)
            self._coded = stop

    def _write(self, name: str, content: bytes, width: int) -> None:
        with (self._folder / name).open("ab") as file:
            # What a dead writer left half done is overwritten.
            file.truncate(self._length * width)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
