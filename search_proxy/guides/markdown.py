"""Reads Markdown as blocks: headings and paragraphs as a reader sees them, without the marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from search_proxy.web.page_text import Block, clean, read_page

_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_]+):\s*(.+?)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_HTML = re.compile(r"<(?:[a-zA-Z][\w-]*|/[a-zA-Z]|!--)")
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"!\[([^\]\n]{0,300})\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"\[([^\]\n]{1,300})\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"\[([^\]\n]{1,300})\]\[[^\]\n]*\]"), r"\1"),
    (re.compile(r"^ {0,3}\[[^\]\n]{1,300}\]:\s*\S+.*$", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__)(?=\S)([^\n]+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)[*_](?=\S)([^*_\n]+)(?<=\S)[*_](?!\w)"), r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+", re.MULTILINE), ""),
    (re.compile(r"^\s*>\s?", re.MULTILINE), ""),
)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the plain fields of a document's front matter, and the text after it."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(found.group(1))}
    return fields, text[found.end() :]


def markdown_blocks(text: str) -> Iterator[Block]:
    """Yield the headings and paragraphs; code keeps its lines in one paragraph."""
    paragraph: list[str] = []
    fence: str | None = None
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark.group(1)
            continue
        heading = None if fence else _HEADING.match(line)
        underline = None if fence else _UNDERLINE.match(line)
        if heading:
            yield from _prose(paragraph)
            paragraph = []
            yield Block(len(heading.group(1)), _plain(heading.group(2)))
        elif underline and paragraph and len(paragraph) == 1:
            yield Block(1 if "=" in underline.group(1) else 2, _plain(paragraph[0]))
            paragraph = []
        elif line.strip() or fence:
            paragraph.append(line)
        else:
            yield from _prose(paragraph)
            paragraph = []
    yield from _prose(paragraph)


def _prose(lines: list[str]) -> Iterator[Block]:
    text = _plain("\n".join(lines))
    if text:
        yield Block(0, text)


def _plain(text: str) -> str:
    if _HTML.search(text):
        text = " ".join(block.text for block in read_page(text).blocks)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return clean(text)
