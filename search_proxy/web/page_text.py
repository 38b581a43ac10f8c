"""The readable text of an HTML page: headings and paragraphs, without what stands around them on every page.

Scripts, styles, SVG, forms, navigation, headers, footers and asides are left out, and so are base64 data and
lines of links alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

MAX_DEPTH = 400
"""Real pages nest thirty deep; what nests deeper than this was made to hurt."""

_UNREAD = frozenset(
    {
        *("script", "style", "template", "noscript", "svg", "math", "canvas", "iframe", "object", "head"),
        *("nav", "header", "footer", "aside", "form", "button", "select", "textarea", "dialog", "menu"),
    }
)
_UNREAD_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog"})
_BLOCKS = frozenset(
    {
        *("p", "div", "section", "article", "main", "ul", "ol", "li", "table", "tr", "dl", "dt", "dd"),
        *("blockquote", "pre", "figure", "figcaption", "br", "hr", "body", "html", "address"),
        *("h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "wbr"}
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLANKS = re.compile(r"\s+")
_BASE64 = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{120,}={0,2}")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text; `level` is 1 to 6 for a heading, 0 for prose."""

    level: int
    text: str

    @property
    def line(self) -> str:
        """Return the block as a line of Markdown."""
        return f"{'#' * self.level} {self.text}" if self.level else self.text


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page's title and its blocks in order."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """Return the blocks as one text, headings on lines of their own."""
        return "\n".join(block.line for block in self.blocks)


def read_page(markup: str) -> ReadPage:
    """Return what a reader of the page reads."""
    parser = _PageParser()
    parser.feed(markup)
    parser.close()
    parser.end_block()
    title = clean("".join(parser.title))
    blocks = tuple(parser.blocks)
    return ReadPage(title or next((block.text for block in blocks if block.level), ""), blocks)


def clean(text: str) -> str:
    """Return text with one blank where there were several, and without base64 data."""
    return _BLANKS.sub(" ", _BASE64.sub(" ", text)).strip()


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title: list[str] = []
        self._open: list[str] = []
        self._unread_at: int | None = None
        self._in_title = False
        self._in_link = 0
        self._linked = 0
        self._parts: list[str] = []
        self._level = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        if tag in _BLOCKS:
            self.end_block()
            self._level = _HEADINGS.get(tag, 0)
        if tag in _VOID or len(self._open) >= MAX_DEPTH:
            return
        self._open.append(tag)
        self._in_link += tag == "a"
        values = dict(attrs)
        hidden = "hidden" in values or values.get("aria-hidden") == "true"
        unread = tag in _UNREAD or hidden or values.get("role") in _UNREAD_ROLES
        if self._unread_at is None and unread:
            self._unread_at = len(self._open)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _BLOCKS:
            self.end_block()
        if tag not in self._open:
            return
        while self._open:
            closed = self._open.pop()
            self._in_link -= closed == "a"
            if self._unread_at is not None and len(self._open) < self._unread_at:
                self._unread_at = None
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif self._unread_at is None:
            self._parts.append(data)
            self._linked += len(data.strip()) if self._in_link else 0

    def end_block(self) -> None:
        text = clean("".join(self._parts))
        # A short line that is nothing but links is a menu, whatever its tag.
        if text and (self._level or self._linked < len(text) * 0.9 or len(text) > 200):
            self.blocks.append(Block(self._level, text))
        self._parts, self._linked, self._level = [], 0, 0
