"""Prints what a benchmark measured as one table."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, its median and 99th percentile (or one value), and the unit."""

    name: str
    median: str
    p99: str
    unit: str


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Write the rows, aligned."""
    header = Row(title, "median", "p99", "")
    lines = [(row.name, row.median, row.p99, row.unit) for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    for line in lines:
        cells = [line[0].ljust(widths[0]), line[1].rjust(widths[1]), line[2].rjust(widths[2]), line[3]]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
