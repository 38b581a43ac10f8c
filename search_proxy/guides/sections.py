"""Splits a guide at its headings into sections that can each be found, read and quoted alone.

A section is a heading with what stands under it; one that is too long is split between paragraphs, one that
is hardly more than its heading goes with the section before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from search_proxy.guides.markdown import front_matter, markdown_blocks
from search_proxy.tools.dates import read_time
from search_proxy.web.page_text import Block, clean, read_page

MAX_SECTION_CHARACTERS = 4_000
"""About a thousand tokens: a page of a manual."""

MIN_SECTION_CHARACTERS = 80

_NOT_IN_ID = re.compile(r"[^\w]+")
_LONGEST_ID_PART = 80


@dataclass(slots=True)
class _Section:
    headings: tuple[str, ...]
    paragraphs: list[str] = field(default_factory=list)

    @property
    def length(self) -> int:
        return sum(map(len, self.paragraphs))


def guide_documents(path: PurePosixPath, text: str) -> list[dict[str, Any]]:
    """Return the documents of one guide; `path` is where it is below the folder that was loaded."""
    fields: dict[str, str] = {}
    title = ""
    if path.suffix.lower() in (".html", ".htm"):
        page = read_page(text)
        title, blocks = page.title, list(page.blocks)
    elif path.suffix.lower() in (".md", ".markdown"):
        fields, rest = front_matter(text)
        blocks = list(markdown_blocks(rest))
    else:
        parts = (clean(part) for part in re.split(r"\n\s*\n", text))
        blocks = [Block(0, part) for part in parts if part]
    first = next((block.text for block in blocks if block.level == 1), "")
    title = fields.get("title") or first or title or path.stem.replace("-", " ").replace("_", " ")
    common: dict[str, Any] = {"guide": title, "path": str(path)}
    if len(path.parts) > 1:
        common["scope"] = path.parts[0]
    if read_time(fields.get("date")) is not None:
        common["createdTime"] = fields["date"]
    return _documents(path, title, _sections(blocks), common)


def _documents(
    path: PurePosixPath, title: str, sections: Iterable[_Section], common: dict[str, Any]
) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    taken: set[str] = set()
    for section in sections:
        headings = [heading for heading in section.headings if heading != title]
        slug = _NOT_IN_ID.sub("-", " ".join(headings).casefold()).strip("-")[:_LONGEST_ID_PART]
        for part in _split(section.paragraphs):
            name = base = f"{path}#{slug}" if slug else str(path)
            number = 2
            while name in taken:
                name, number = f"{base}-{number}", number + 1
            taken.add(name)
            documents.append(
                {
                    "_id": name,
                    "productTitle": " – ".join([title, *headings]),
                    "description": part,
                    **({"section": headings[-1]} if headings else {}),
                    **common,
                }
            )
    return documents


def _sections(blocks: Iterable[Block]) -> list[_Section]:
    sections = [_Section(())]
    open_headings: list[tuple[int, str]] = []
    for block in blocks:
        if block.level:
            open_headings = [entry for entry in open_headings if entry[0] < block.level]
            open_headings.append((block.level, block.text))
            sections.append(_Section(tuple(text for _, text in open_headings)))
        else:
            sections[-1].paragraphs.append(block.text)
    kept: list[_Section] = []
    for section in sections:
        if not section.paragraphs:
            continue
        if kept and section.length < MIN_SECTION_CHARACTERS and kept[-1].length < MAX_SECTION_CHARACTERS:
            kept[-1].paragraphs += [*section.headings[-1:], *section.paragraphs]
        else:
            kept.append(section)
    return kept


def _split(paragraphs: Iterable[str]) -> list[str]:
    parts: list[str] = [""]
    for paragraph in paragraphs:
        for start in range(0, len(paragraph), MAX_SECTION_CHARACTERS):
            piece = paragraph[start : start + MAX_SECTION_CHARACTERS]
            if parts[-1] and len(parts[-1]) + len(piece) > MAX_SECTION_CHARACTERS:
                parts.append("")
            parts[-1] = f"{parts[-1]}\n{piece}" if parts[-1] else piece
    return [part for part in parts if part]
