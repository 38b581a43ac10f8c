"""Reads tables of text (CSV, TSV): rows found by their quotes, one broken row at a time.

A quote that is never closed would swallow the file. Here it costs its own line: a row of several lines must
close its quotes within `_MAX_ROW_LINES` and have exactly the header's columns, or only its first line is
refused and reading goes on with the next.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from search_proxy.feeds.cells import column_types, typed_row
from search_proxy.feeds.feed_file import FeedFile, Line
from search_proxy.feeds.jsonl import not_utf8
from search_proxy.feeds.records import MAX_FIELDS, MAX_LINE_BYTES, FeedError, Record, Refusal, Refused, quoted

DELIMITERS = (",", "\t", ";", "|")

_MAX_ROW_LINES = 1_000
_SAMPLE_ROWS = 200
_QUOTED = re.compile(r'"((?:[^"]++|"")*+)"')


@dataclass(frozen=True, slots=True)
class Row:
    """A row's first line and its cells, as many as the header has."""

    line: int
    cells: list[str]


class Table:
    """The rows of one delimited file, after its header."""

    def __init__(self, file: FeedFile, delimiter: str | None = None) -> None:
        """Read the header; without a delimiter, the one that the header uses most.

        Raises:
            FeedError: The first line is no header of at least two named columns.
        """
        self._file = file
        self._lines = file.lines()
        self._returned: deque[Line] = deque()
        self._last_line = 0
        line = self._first_line()
        self.delimiter = delimiter or max(DELIMITERS, key=line.count)
        cells = self._header_cells(line)
        if cells is None or len(cells) < 2 or not any(cell.strip() for cell in cells):
            expected = "a header line with at least two columns, or one JSON object per line"
            raise FeedError(
                f"feed {quoted(str(file.path))} is no feed: expected {expected}, found {quoted(line)}"
            )
        if len(cells) > MAX_FIELDS:
            raise FeedError(f"a header may have {MAX_FIELDS} columns, found {len(cells)}")
        self.header = _unique(cells)

    def rows(self) -> Iterator[Row | Refusal]:
        """Yield every row, or the refusal of a line that begins none."""
        while (line := self._next_line()) is not None:
            number, data = line
            if data is not None and not data.strip():
                continue
            taken: list[Line] = []
            try:
                yield Row(number, self._cells(data, taken))
            except Refused as refused:
                self._returned.extendleft(reversed(taken))
                yield refused.at(number)
        yield from self._file.damage_refusal(self._last_line)

    def _cells(self, data: bytes | None, taken: list[Line]) -> list[str]:
        text = _decoded(data)
        cells = split_row(text, self.delimiter)
        pieces = [text]
        while cells is None:
            line = self._next_line() if len(taken) < _MAX_ROW_LINES else None
            if line is None:
                raise Refused("unclosed_quote", None, "a quote is opened here and never closed")
            taken.append(line)
            pieces.append(_decoded(line[1]))
            if sum(map(len, pieces)) > MAX_LINE_BYTES:
                raise Refused("too_long", None, f"a row may have {MAX_LINE_BYTES} bytes")
            if '"' in pieces[-1]:
                cells = split_row("\n".join(pieces), self.delimiter)
        expected = len(self.header)
        if len(cells) > expected or (taken and len(cells) < expected):
            raise Refused("wrong_columns", None, f"expected {expected} columns, found {len(cells)}")
        return cells + [""] * (expected - len(cells))

    def _first_line(self) -> str:
        for number, data in self._lines:
            self._last_line = number
            try:
                text = _decoded(data)
            except Refused as refused:
                raise FeedError(f"the header cannot be read: {refused.reason}") from refused
            if text.strip():
                return text
        raise FeedError(f"feed {quoted(str(self._file.path))}: {self._file.damage or 'no header line'}")

    def _header_cells(self, line: str) -> list[str] | None:
        try:
            return split_row(line, self.delimiter)
        except Refused as refused:
            raise FeedError(f"the header cannot be read: {refused.reason}") from refused

    def _next_line(self) -> Line | None:
        line = self._returned.popleft() if self._returned else next(self._lines, None)
        self._last_line = max(self._last_line, line[0] if line else 0)
        return line


def read_table(table: Table) -> Iterator[Record | Refusal]:
    """Yield a record per row, its cells typed by their columns."""
    rows = table.rows()
    sample = list(itertools.islice(rows, _SAMPLE_ROWS))
    types = column_types(table.header, (row.cells for row in sample if isinstance(row, Row)))
    for row in itertools.chain(sample, rows):
        if isinstance(row, Row):
            yield Record(line=row.line, values=typed_row(table.header, row.cells, types))
        else:
            yield row


def split_row(text: str, delimiter: str) -> list[str] | None:
    """Return the cells of a row; None while a quoted cell is still open at its end.

    Raises:
        Refused: Text stands between a closing quote and the next delimiter.
    """
    cells: list[str] = []
    position = 0
    while True:
        if text.startswith('"', position):
            found = _QUOTED.match(text, position)
            if found is None:
                return None
            cells.append(found[1].replace('""', '"'))
            position = found.end()
            if position < len(text) and not text.startswith(delimiter, position):
                raise Refused(
                    "bad_quotes", None, f"expected {delimiter!r} after the quote at column {position}"
                )
        else:
            end = text.find(delimiter, position)
            cells.append(text[position:] if end == -1 else text[position:end])
            position = len(text) if end == -1 else end
        if position >= len(text):
            return cells
        position += len(delimiter)


def _decoded(data: bytes | None) -> str:
    if data is None:
        raise Refused("too_long", None, f"a line may have {MAX_LINE_BYTES} bytes")
    if b"\0" in data:
        raise Refused("nul_byte", None, "a line must not hold NUL bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(data[error.start], error.start) from error


def _unique(cells: list[str]) -> list[str]:
    names: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column_{number}"
        names.append(name if name not in names else f"{name}_{number}")
    return names
