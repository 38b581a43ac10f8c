"""Keeps the newest generation of every index in use open, and notices when a writer published another.

A writer may be another process; so the manifest's identity is looked at before every search, which costs
two microseconds.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from search_proxy.engine.manifest import identity, is_valid_name
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.errors import IndexNotFound, InvalidSearch

MAX_OPEN = 64
"""An index holds a few open files and its derived columns; the least recently used one is let go."""


class OpenIndexes:
    """The indexes under one folder, by account and name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opening: dict[Path, threading.Lock] = {}
        self._open: OrderedDict[Path, tuple[tuple[int, int], Snapshot]] = OrderedDict()
        self._known_folders: dict[tuple[str, str], Path] = {}

    def folder(self, account_id: str, index: str) -> Path:
        """Return where an index lies.

        Raises:
            InvalidSearch: The names cannot be those of an index.
        """
        for what, name in (("account", account_id), ("index", index)):
            if not is_valid_name(name):
                raise InvalidSearch(
                    f"{what} name must be 1 to 128 letters, digits, '_' or '-', not {name[:200]!r}"
                )
        return self._folder / account_id / index

    def snapshot(self, account_id: str, index: str) -> Snapshot:
        """Return the newest generation.

        Raises:
            IndexNotFound: The account has no such index.
        """
        if not is_valid_name(account_id) or not is_valid_name(index):
            raise IndexNotFound(index)
        folder = self._folder / account_id / index
        current = identity(folder)
        if current is None:
            self._forget(folder)
            raise IndexNotFound(index)
        with self._lock:
            held = self._open.get(folder)
            if held is not None and held[0] == current:
                self._open.move_to_end(folder)
                self._known_folders[account_id, index] = folder
                return held[1]
            opening = self._opening.setdefault(folder, threading.Lock())
        with opening:
            return self._reopen(folder, index)

    def if_open(self, account_id: str, index: str) -> Snapshot | None:
        """Return the newest generation if it is open: a look at the manifest, and no waiting."""
        folder = self._known_folders.get((account_id, index))
        if folder is None:
            return None
        current = identity(folder)
        with self._lock:
            held = self._open.get(folder)
            return held[1] if held is not None and held[0] == current else None

    def names(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        folder = self._folder / account_id
        if not is_valid_name(account_id) or not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if is_valid_name(path.name) and identity(path))

    def _forget(self, folder: Path) -> None:
        with self._lock:
            self._open.pop(folder, None)
            self._opening.pop(folder, None)

    def _reopen(self, folder: Path, index: str) -> Snapshot:
        with self._lock:
            held = self._open.get(folder)
        if held is not None and held[0] == identity(folder):
            return held[1]
        try:
            fresh = open_snapshot(folder, None if held is None else held[1])
        except FileNotFoundError as error:
            self._forget(folder)
            raise IndexNotFound(index) from error
        with self._lock:
            self._open[folder] = fresh
            self._open.move_to_end(folder)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
                self._known_folders.clear()
        return fresh[1]
