"""Prints rows of words and figures under their headings."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write the rows, aligned; the first column to the left, figures to the right."""
    lines = [tuple(headings), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    for line in lines:
        cells = [
            cell.rjust(width) if column and _is_figure(rows, column) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _is_figure(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(row[column].replace(".", "").replace("%", "").strip().isdigit() for row in rows)
