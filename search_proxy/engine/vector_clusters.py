"""Groups the vectors of a large index, so that a query looks only into the groups nearest to it.

Below `EXACT_UP_TO` every vector is compared, which is exact and takes milliseconds. Above, an embedding run
ends by grouping them around centres (spherical k-means over a sample); a search then compares the groups in
the order of their centres until it has seen a few percent of all vectors, and those that were appended since.
A filter that keeps little never comes here: its own rows are compared one by one. The codes lie once more in
a file of their own, group by group, so that a group is read in one piece.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.quantised import FACTS, Codes, QueryCodes, bounded, quantised
from search_proxy.engine.vector_codes import StoredCodes, mapped_array

EXACT_UP_TO = 300_000
"""Comparing so many takes 6 ms on one core. Source: decision 0017."""

SEEN_SHARE = 0.1
"""Of all vectors; with fewer, too many of the ten nearest are missed. Source: docs/engine.md."""
MIN_SEEN = 12_000
_FILE = "clusters.npz"
_SAMPLE = 50_000
_ROUNDS = 6
_ROWS_AT_ONCE = 2_048
_REGROUP_SHARE = 0.1
_READ_ATTEMPTS = 2


class Clusters:
    """The groups over the first `length` vectors of a file; `order` are positions, group by group."""

    def __init__(self, centres: Array, order: Array, starts: Array, codes: Codes, created: str) -> None:
        self.centres = centres
        self.order = order
        self.starts = starts
        self.codes = codes
        self.created = created
        self.length = len(order)

    def upper_bounds(
        self, every: StoredCodes, vector: Array, query: QueryCodes, at_least: int
    ) -> tuple[Array, Array]:
        """Return the positions in the groups nearest to `vector`, `at_least` so many, and their bounds.

        A bound is what the similarity to `query`, the codes of `vector`, is not above. `every` has the codes
        of all vectors; those behind the grouped ones are among the answer.
        """
        by_distance = np.argsort(-(self.centres @ vector), kind="stable")
        seen = np.cumsum(np.diff(self.starts)[by_distance])
        groups = by_distance[: int(np.searchsorted(seen, at_least)) + 1].tolist()
        positions = [self.order[self.starts[one] : self.starts[one + 1]] for one in groups]
        codes = [self.codes.part(self.starts[one], self.starts[one + 1]) for one in groups]
        products = np.concatenate([one.products(query) for one in codes])
        bounds = bounded(products, np.concatenate([one.facts for one in codes], axis=1), query)
        behind = every.upper_bounds(query, self.length)
        positions.append(np.arange(self.length, self.length + len(behind)))
        return np.concatenate(positions), np.concatenate([bounds, behind])


def grouped_at(folder: Path) -> int:
    """Return a number that another grouping of the vectors in `folder` changes; 0 before the first."""
    try:
        return (folder / _FILE).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def read_clusters(folder: Path, created: str | None, length: int) -> Clusters | None:
    """Return the groups of the vectors in `folder`, or None where there are none of these vectors.

    Those of an earlier version, which have no codes, are none.
    """
    for _ in range(_READ_ATTEMPTS):
        try:
            with np.load(folder / _FILE, allow_pickle=False) as stored:
                if "facts" not in stored or str(stored["created"]) != created:
                    return None
                order, facts, centres = stored["order"], stored["facts"], stored["centres"]
                starts, stamp = stored["starts"].astype(np.int64), str(stored["stamp"])
            rows = mapped_array(folder / _codes_file(stamp), np.int8, len(order), centres.shape[1])
        except FileNotFoundError:
            # There are none, or others have just taken their place.
            continue
        if len(order) > length:
            return None
        return Clusters(centres, order, starts, Codes(rows, facts), str(created))
    return None


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
    facts = _write_codes(folder / _codes_file(stamp), matrix, order)
    draft = folder / f"{stamp}.{_FILE}"
    np.savez(draft, centres=centres, order=order, starts=starts, facts=facts, created=created, stamp=stamp)
    draft.replace(folder / _FILE)
    for old in folder.glob(_codes_file("*")):
        if old.name != _codes_file(stamp):
            old.unlink()
    return True


def _codes_file(stamp: str) -> str:
    return f"clusters.{stamp}.i8"


def _write_codes(path: Path, matrix: Array, order: Array) -> Array:
    """Write the codes of the rows of `matrix`, in this order, and return the facts beside them."""
    facts = np.empty((FACTS, len(order)), np.float32)
    with path.open("wb") as file:
        for start in range(0, len(order), _ROWS_AT_ONCE):
            codes = quantised(matrix[order[start : start + _ROWS_AT_ONCE]])
            file.write(codes.rows.tobytes())
            facts[:, start : start + len(codes)] = codes.facts
        file.flush()
        os.fsync(file.fileno())
    return facts


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
