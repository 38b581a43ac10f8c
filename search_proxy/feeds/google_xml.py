"""Reads a Google Merchant feed in XML (RSS items or Atom entries), each item parsed on its own.

Cutting the items out first means that a broken one costs only itself, that memory holds one item at a time,
and that no entity a document type could define is ever expanded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from search_proxy.feeds.feed_file import FeedFile
from search_proxy.feeds.jsonl import not_utf8
from search_proxy.feeds.records import MAX_LINE_BYTES, FeedError, Record, Refusal, Refused, quoted

_START = re.compile(rb"<!--|<!\[CDATA\[|<(item|entry)(?=[\s>])")
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<item": b"</item>", b"<entry": b"</entry>"}
_LONGEST_MARK = 16
_ENCODING = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([\w.\-]+)["']""")

Block = tuple[int, bytes | None]
"""The line where an item starts, and its bytes; None where it is too long to keep."""


def read_google_xml(file: FeedFile) -> Iterator[Record | Refusal]:
    """Yield a record per item or entry, its elements by name without their prefix.

    Raises:
        FeedError: The file names an encoding that cannot be read, or holds no item at all.
    """
    encoding = _encoding(file.head)
    line, found = 1, False
    for line, block in _blocks(file):
        found = True
        try:
            yield Record(line=line, values=_values(block, encoding))
        except Refused as refused:
            yield refused.at(line)
    if not found and not file.damage:
        raise FeedError(f"feed {quoted(str(file.path))} has no <item> or <entry>; is it a Merchant feed?")
    yield from file.damage_refusal(line)


def _blocks(file: FeedFile) -> Iterator[Block]:
    buffer, line, started = b"", 1, 1
    chunks = file.chunks()
    end: bytes | None = None
    too_long = False
    while True:
        if end is None:
            start = _START.search(buffer)
            keep = start.start() if start else max(0, len(buffer) - _LONGEST_MARK)
            line += buffer.count(b"\n", 0, keep)
            buffer = buffer[keep:]
            end, started = _ENDS[start.group()] if start else None, line
        position = buffer.find(end) if end else -1
        if end and position != -1:
            position += len(end)
            if end.startswith(b"</"):
                yield started, None if too_long else buffer[:position]
            line += buffer.count(b"\n", 0, position)
            buffer, end, too_long = buffer[position:], None, False
            continue
        if end and len(buffer) > MAX_LINE_BYTES:
            # Keep the tail, where the end mark may be half read; the lines still count.
            line += buffer.count(b"\n", 0, -_LONGEST_MARK)
            buffer, too_long = buffer[-_LONGEST_MARK:], True
        chunk = next(chunks, b"")
        if not chunk:
            if end and end.startswith(b"</") and not file.damage:
                yield started, b""
            return
        buffer += chunk


def _values(block: bytes | None, encoding: str) -> dict[str, Any]:
    if block is None:
        raise Refused("too_long", None, f"an item may have {MAX_LINE_BYTES} bytes")
    if not block:
        raise Refused("not_xml", None, "the item is not closed before the end of the file")
    if b"\0" in block:
        raise Refused("nul_byte", None, "an item must not hold NUL bytes")
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError as error:
        raise not_utf8(block[error.start], error.start) from error
    collected = _Collected()
    try:
        collected.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        reason = f"the item is not XML: {expat.errors.messages[error.code]} on its line {error.lineno}"
        raise Refused("not_xml", None, reason) from error
    return collected.values


class _Collected:
    """Collects an item's elements: `{name: text}`, a list where a name repeats, dots where they nest."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._path: list[str] = []
        self._text: list[list[str]] = []
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._path) > 32:
            raise Refused("nested_too_deeply", None, "the elements of an item nest too deeply")
        self._path.append(name.rsplit(":", 1)[-1])
        self._text.append([])
        if self._path[1:] == ["link"] and attributes.get("href"):
            self._put("link", attributes["href"])

    def _end(self, _: str) -> None:
        text = "".join(self._text.pop()).strip()
        if text and len(self._path) > 1:
            self._put(".".join(self._path[1:]), text)
        self._path.pop()

    def _characters(self, data: str) -> None:
        self._text[-1].append(data)

    def _put(self, name: str, text: str) -> None:
        if name in self.values:
            earlier = self.values[name]
            self.values[name] = [*(earlier if isinstance(earlier, list) else [earlier]), text]
        else:
            self.values[name] = text


def _encoding(head: bytes) -> str:
    declared = _ENCODING.search(head[:200])
    name = declared[1].decode("ascii") if declared else "utf-8"
    try:
        found = codecs.lookup(name).name
    except LookupError as error:
        raise FeedError(f"the feed is in encoding {name!r}, which is unknown; save it as UTF-8") from error
    if found.startswith(("utf-16", "utf-32", "utf-7")):
        raise FeedError(f"the feed is in encoding {name!r}; save it as UTF-8")
    return found
