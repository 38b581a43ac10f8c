"""Loads a folder of guides into an index: `aisle catalog load INDEX DIR`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from search_proxy.backend import CatalogWriter
from search_proxy.errors import IndexNotFound
from search_proxy.guides.sections import guide_documents

SUFFIXES = frozenset({".md", ".markdown", ".html", ".htm", ".txt"})
MAX_FILE_BYTES = 5_000_000
MAX_FILES = 20_000
_BATCH = 500


class GuidesError(Exception):
    """A folder that cannot be loaded as guides; the message says why."""


@dataclass(slots=True)
class GuidesReport:
    """What came of a load; `refused` are files with the reason why they were left out."""

    guides: int = 0
    sections: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)

    def lines(self, index: str) -> str:
        """Return the report as the command prints it."""
        said = [f"loaded {self.sections} sections of {self.guides} guides into index {index!r}"]
        said += [f"left out {name}: {reason}" for name, reason in self.refused]
        return "".join(f"{line}\n" for line in said)


def guide_files(folder: Path) -> list[Path]:
    """Return the guides below a folder in a fixed order; hidden files and folders are none.

    Raises:
        GuidesError: There is none, or there are too many.
    """
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        kinds = ", ".join(sorted(SUFFIXES))
        raise GuidesError(f"folder {str(folder)!r} has no guides: files that end in {kinds}")
    if len(found) > MAX_FILES:
        raise GuidesError(f"folder {str(folder)!r} has {len(found)} guides, more than {MAX_FILES}")
    return found


async def load_guides(
    folder: Path,
    writer: CatalogWriter,
    account_id: str,
    index: str,
    *,
    replace: bool = False,
    on_progress: Callable[[int], None] = lambda files: None,
) -> GuidesReport:
    """Write every guide's sections; `on_progress` gets how many files were read.

    Raises:
        GuidesError: The folder has no guides.
        SearchError: The engine could not write.
    """
    report = GuidesReport()
    files = await asyncio.to_thread(guide_files, folder)
    if replace:
        with suppress(IndexNotFound):
            await writer.delete_index(account_id, index)
    waiting: list[dict[str, object]] = []
    for number, path in enumerate(files, start=1):
        documents = await asyncio.to_thread(_read, folder, path, report)
        report.guides += bool(documents)
        waiting += documents
        if len(waiting) >= _BATCH or (number == len(files) and waiting):
            report.sections += await writer.add_documents(account_id, index, waiting)
            waiting = []
        on_progress(number)
    return report


def _read(folder: Path, path: Path, report: GuidesReport) -> list[dict[str, object]]:
    name = PurePosixPath(path.relative_to(folder).as_posix())
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            report.refused.append((str(name), "it is a link to a file outside of the folder"))
            return []
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            report.refused.append((str(name), f"it has {size} bytes, more than {MAX_FILE_BYTES}"))
            return []
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        report.refused.append((str(name), "it is not UTF-8"))
        return []
    except OSError as error:
        report.refused.append((str(name), (error.strerror or str(error)).lower()))
        return []
    documents = guide_documents(name, text.replace("\x00", ""))
    if not documents:
        report.refused.append((str(name), "it has no text"))
    return documents
