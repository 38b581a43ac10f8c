"""Merges segments, so that an index that is written in many small commits stays as fast as one.

The newest segments are merged until the sizes grow geometrically towards the oldest; where half of all rows
are dead, everything is. Columns and text are joined as arrays: no document is parsed or analysed again.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from search_proxy.engine.columns import in_one_piece, join_columns, keep_rows
from search_proxy.engine.manifest import Manifest, SegmentEntry
from search_proxy.engine.postings import rows_of
from search_proxy.engine.segment import Segment, write_segment
from search_proxy.engine.snapshot import SEGMENTS, read_deleted
from search_proxy.engine.text_columns import merge_texts

MAX_SEGMENTS = 8
MIN_DEAD_ROWS = 1_000
"""Below this many, dead rows cost less than the merge that would remove them."""


def compacted(folder: Path, manifest: Manifest) -> Manifest | None:
    """Write merged segments where they are due and return the manifest that has them, or None."""
    first = first_to_merge(manifest.segments)
    if first is None:
        return None
    merged = _merge(folder, manifest.segments[first:])
    return manifest.following((*manifest.segments[:first], *merged))


def first_to_merge(segments: Sequence[SegmentEntry]) -> int | None:
    """Return the position from which on all segments should become one, or None."""
    dead = sum(entry.dead for entry in segments)
    if dead >= MIN_DEAD_ROWS and 2 * dead >= sum(entry.size for entry in segments):
        return 0
    if len(segments) <= MAX_SEGMENTS:
        return None
    first = len(segments) - 2
    tail = segments[first].size + segments[first + 1].size
    while first > 0 and segments[first - 1].size <= 2 * tail:
        first -= 1
        tail += segments[first].size
    return first


def _merge(folder: Path, entries: Sequence[SegmentEntry]) -> list[SegmentEntry]:
    segments = [Segment(folder / SEGMENTS / entry.name) for entry in entries]
    bases = np.cumsum([0, *(segment.size for segment in segments)])
    kept = np.ones(int(bases[-1]), bool)
    for base, entry in zip(bases, entries, strict=False):
        kept[rows_of(read_deleted(folder, entry)) + base] = False
    if not kept.any():
        return []
    renumbered = (np.cumsum(kept) - 1).astype(np.uint32)
    every_row = bool(kept.all())
    fields = {}
    for name in {name: None for segment in segments for name in segment.fields}:
        parts = [
            (int(base), columns)
            for base, segment in zip(bases, segments, strict=False)
            if (columns := segment.columns(name)) is not None
        ]
        joined = join_columns(parts)
        columns = in_one_piece(joined) if every_row else keep_rows(joined, kept, renumbered)
        if len(columns.rows()):
            fields[name] = columns
    living = [np.flatnonzero(kept[base : base + s.size]) for base, s in zip(bases, segments, strict=False)]
    name = f"{entries[0].name.partition('-')[0]}-{secrets.token_hex(4)}"
    write_segment(
        folder / SEGMENTS / name,
        ids=[i for s, rows in zip(segments, living, strict=True) for i in _chosen(s.ids(), rows.tolist())],
        text_hashes=np.concatenate([s.text_hashes[rows] for s, rows in zip(segments, living, strict=True)]),
        product_hashes=np.concatenate(
            [s.product_hashes[rows] for s, rows in zip(segments, living, strict=True)]
        ),
        bodies=[b for s, rows in zip(segments, living, strict=True) for b in s.bodies(rows)],
        fields=fields,
        text=merge_texts(
            [(s.text, kept[base : base + s.size]) for base, s in zip(bases, segments, strict=False)]
        ),
    )
    return [SegmentEntry(name=name, size=int(kept.sum()))]


def _chosen(values: Sequence[str], rows: Sequence[int]) -> list[str]:
    return [values[row] for row in rows]
