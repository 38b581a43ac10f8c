"""Reads JSON Lines: one object per line, each line on its own feet."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from search_proxy.feeds.feed_file import FeedFile
from search_proxy.feeds.records import MAX_LINE_BYTES, Record, Refusal, Refused, quoted


def read_jsonl(file: FeedFile) -> Iterator[Record | Refusal]:
    """Yield a record per line, or the refusal of a line that holds no object; blank lines are passed over."""
    number = 0
    for number, data in file.lines():
        if data is not None and not data.strip():
            continue
        try:
            yield _record(number, data)
        except Refused as refused:
            yield refused.at(number)
    yield from file.damage_refusal(number)


def _record(number: int, data: bytes | None) -> Record:
    if data is None:
        raise Refused("too_long", None, f"a line may have {MAX_LINE_BYTES} bytes")
    if b"\0" in data:
        raise Refused("nul_byte", None, "a line must not hold NUL bytes")
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _unreadable(data, error) from error
    if not isinstance(values, dict):
        raise Refused("not_an_object", None, f"a line must hold one JSON object, found {quoted(values)}")
    return Record(line=number, values=values)


def _unreadable(data: bytes, error: orjson.JSONDecodeError) -> Refused:
    try:
        data.decode()
    except UnicodeDecodeError as encoding:
        return not_utf8(encoding.object[encoding.start], encoding.start)
    if "depth" in error.msg:
        return Refused("nested_too_deeply", None, "the line nests too deeply")
    return Refused("not_json", None, f"the line is not JSON: {error.msg} (column {error.colno})")


def not_utf8(byte: int, offset: int) -> Refused:
    """Return the refusal of bytes that are no UTF-8; `offset` is where in the line."""
    return Refused("not_utf8", None, f"the line is not UTF-8: byte 0x{byte:02x} at column {offset + 1}")
