"""Groups the vectors of a large index, so that a query looks only into the groups nearest to it.

Below `EXACT_UP_TO` every vector is compared, which is exact and takes milliseconds. Above, an embedding run
ends by grouping them around centres (spherical k-means over a sample); a search then compares the groups in
the order of their centres until it has seen a few percent of all vectors, and those that were appended since.
A filter that keeps little never comes here: its own rows are compared one by one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np

from search_proxy.engine.columns import Array

EXACT_UP_TO = 300_000
"""Comparing so many takes 20 ms on one core. Source: docs/engine.md."""

SEEN_SHARE = 0.06
"""Of all vectors; with fewer, too many of the ten nearest are missed. Source: docs/engine.md."""
MIN_SEEN = 12_000
_FILE = "clusters.npz"
_SAMPLE = 50_000
_ROUNDS = 6
_ROWS_AT_ONCE = 2_048
_REGROUP_SHARE = 0.1


class Clusters:
    """The groups over the first `length` vectors of a file; `order` are positions, group by group."""

    def __init__(self, centres: Array, order: Array, starts: Array, created: str, stamp: str) -> None:
        self.centres = centres
        self.order = order
        self.starts = starts
        self.created = created
        self.stamp = stamp
        self.length = len(order)
        self._blocks: dict[int, Array] = {}
        self.on_copied: Callable[[], None] = _nothing

    def nearest(self, matrix: Array, query: Array, at_least: int) -> tuple[Array, Array]:
        """Return the positions in the groups nearest to `query`, `at_least` so many, and their similarities.

        `matrix` holds all vectors; those behind the grouped ones are among the answer.
        """
        by_distance = np.argsort(-(self.centres @ query), kind="stable")
        seen = np.cumsum(np.diff(self.starts)[by_distance])
        groups = by_distance[: int(np.searchsorted(seen, at_least)) + 1].tolist()
        positions = [self.order[self.starts[one] : self.starts[one + 1]] for one in groups]
        similar = [query @ self._block(matrix, one) for one in groups]
        positions.append(np.arange(self.length, len(matrix)))
        similar.append(matrix[self.length :] @ query)
        return np.concatenate(positions), np.concatenate(similar)

    def take_over(self, before: Clusters) -> None:
        """Keep what an earlier reader of the same groups has in memory."""
        if before.stamp == self.stamp:
            self._blocks = before._blocks

    def _block(self, matrix: Array, group: int) -> Array:
        """Return one group's vectors, column by column; kept in memory from its first use on."""
        block = self._blocks.get(group)
        if block is None:
            members = self.order[self.starts[group] : self.starts[group + 1]]
            block = np.empty((matrix.shape[1], len(members)), matrix.dtype)
            # A copy keeps other threads waiting, so a large one is made in steps.
            for start in range(0, len(members), _ROWS_AT_ONCE):
                part = members[start : start + _ROWS_AT_ONCE]
                block[:, start : start + _ROWS_AT_ONCE] = matrix[part].T
            self._blocks[group] = block
            self.on_copied()
        return block


def _nothing() -> None:
    """Do nothing."""


def read_clusters(folder: Path, created: str | None, length: int) -> Clusters | None:
    """Return the groups of the vectors in `folder`, or None where there are none of these vectors."""
    try:
        with np.load(folder / _FILE, allow_pickle=False) as stored:
            clusters = Clusters(
                stored["centres"],
                stored["order"],
                stored["starts"].astype(np.int64),
                str(stored["created"]),
                str(stored["stamp"]),
            )
    except FileNotFoundError:
        return None
    return clusters if clusters.created == created and clusters.length <= length else None


def group_vectors(
    folder: Path, matrix: Array, created: str, before: Clusters | None, exact_up_to: int = EXACT_UP_TO
) -> bool:
    """Group the vectors in `folder` anew where they are many and enough were appended; say whether it did."""
    if len(matrix) <= exact_up_to:
        return False
    if before is not None and len(matrix) - before.length < _REGROUP_SHARE * before.length:
        return False
    centres = _centres(matrix)
    group_of = np.concatenate(
        [
            np.argmax(matrix[start : start + _ROWS_AT_ONCE] @ centres.T, axis=1)
            for start in range(0, len(matrix), _ROWS_AT_ONCE)
        ]
    )
    order = np.argsort(group_of, kind="stable").astype(np.uint32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(group_of, minlength=len(centres)))])
    stamp = secrets.token_hex(6)
    draft = folder / f"{stamp}.{_FILE}"
    np.savez(draft, centres=centres, order=order, starts=starts, created=created, stamp=stamp)
    draft.replace(folder / _FILE)
    return True


def _centres(matrix: Array) -> Array:
    """Return the centres of about as many groups as a group has members."""
    chance = np.random.default_rng(1)
    sample = matrix[np.sort(chance.choice(len(matrix), min(_SAMPLE, len(matrix)), replace=False))]
    centres = sample[chance.choice(len(sample), int(len(matrix) ** 0.5), replace=False)]
    for _ in range(_ROUNDS):
        group_of = np.argmax(sample @ centres.T, axis=1)
        order = np.argsort(group_of, kind="stable")
        present, first = np.unique(group_of[order], return_index=True)
        sums = np.add.reduceat(sample[order], first, axis=0)
        centres = centres.copy()
        centres[present] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return np.ascontiguousarray(centres, np.float32)
