"""The file of what was written: JSON Lines, only ever appended; a killed run loses one line at most."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import orjson

from search_proxy.enrichment.writing import Enrichment


class Journal:
    """Entries by document id; the last one of a document counts. The file is made with the first entry."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: dict[str, Enrichment] = {}
        self._whole = self._read()
        self._file: BinaryIO | None = None

    def add(self, entry: Enrichment) -> None:
        """Append one entry and hand it to the operating system."""
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            # What a killed run left half written would spoil the next line.
            self._file.truncate(self._whole)
        self._file.write(entry.line())
        self._file.flush()
        self.entries[entry.id] = entry

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _read(self) -> int:
        """Read the entries and return how many bytes of whole lines there are."""
        if not self._path.exists():
            return 0
        whole = 0
        with self._path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                entry = _entry(line)
                if entry is not None:
                    self.entries[entry.id] = entry
        return whole


def _entry(line: bytes) -> Enrichment | None:
    try:
        values = orjson.loads(line)
        return Enrichment(
            id=values["_id"],
            text_hash=values["textHash"],
            model=values["model"],
            keywords=tuple(values["keywords"]),
            description=values["description"],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
