"""Makes the product document of a record, or says which field forbids it.

A product is `{"_id", "parentProductId", "productTitle", "price", ...}` with free attributes beside; objects
are flattened to dotted names, the object `attributes` to plain ones. Source: design §3.6a.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from search_proxy.feeds.cells import split_list, typed
from search_proxy.feeds.columns import PRODUCT_FIELDS, ColumnMapping, attribute_name
from search_proxy.feeds.flatten import flatten
from search_proxy.feeds.html_text import plain_text
from search_proxy.feeds.prices import read_price
from search_proxy.feeds.records import (
    MAX_DOCUMENT_BYTES,
    MAX_FIELDS,
    MAX_ID_LENGTH,
    FeedItem,
    Record,
    Refusal,
    Refused,
    quoted,
)
from search_proxy.feeds.visibility import take_visibility
from search_proxy.filters.visibility import VISIBLE_TO

_PATH_MARK = " > "


class ProductReader:
    """Turns the records of one feed into products; of two with the same id, the first is kept.

    It remembers the ids it has seen, which is the only thing that grows with the feed.
    """

    def __init__(self, mapping: ColumnMapping, id_prefix: str = "") -> None:
        self._mapping = mapping
        self._id_prefix = id_prefix
        self._first_lines: dict[str, int] = {}

    def read(self, record: Record) -> FeedItem | Refusal:
        """Return the product of the record, or its refusal."""
        try:
            document = self._document(record.values)
            size = len(orjson.dumps(document))
            if size > MAX_DOCUMENT_BYTES:
                raise Refused(
                    "too_long", None, f"a product may have {MAX_DOCUMENT_BYTES} bytes, found {size}"
                )
            first = self._first_lines.get(document["_id"])
            if first is not None:
                reason = f"id {quoted(document['_id'])} was already read on line {first}"
                raise Refused("duplicate_id", "_id", reason)
        except Refused as refused:
            return refused.at(record.line)
        self._first_lines[document["_id"]] = record.line
        return FeedItem(line=record.line, document=document, size=size)

    def _document(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        raw, visible_to = take_visibility(raw, self._mapping)
        values, attributes = flatten(raw)
        for named in self._mapping.explicit.values():
            if named in attributes and named not in values:
                values[named] = attributes.pop(named)
        if attributes:
            self._mapping.decided.setdefault("attributes.*", "*")
        columns = self._mapping.columns(tuple(values))
        found: dict[str, tuple[str, Any]] = {}
        for name, column in columns.items():
            found.setdefault(column.field, (name, values[name]))
        document = self._required(found)
        if "price" in found:
            name, value = found["price"]
            document["price"], currency = read_price(name, value)
            if currency := currency or columns[name].currency:
                document["currency"] = currency
        document |= _described(found)
        document |= {field: value for field, (_, value) in found.items() if field not in PRODUCT_FIELDS}
        for name, value in attributes.items():
            field = attribute_name(name)
            document[f"attributes.{field}" if field in document or field in PRODUCT_FIELDS else field] = value
        if visible_to is not None:
            document[VISIBLE_TO] = visible_to
        if len(document) > MAX_FIELDS:
            found_count = len(document)
            raise Refused(
                "too_many_fields", None, f"a product may have {MAX_FIELDS} fields, found {found_count}"
            )
        return document

    def _required(self, found: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
        own = self._id(found, "_id")
        parent = self._id(found, "parentProductId") if "parentProductId" in found else own
        return {"_id": own, "parentProductId": parent, "productTitle": _title(found)}

    def _id(self, found: Mapping[str, tuple[str, Any]], field: str) -> str:
        name, value = found.get(field, (field, None))
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            raise Refused("missing_id", "_id", "a product needs an id; no column gives one")
        if not isinstance(value, str):
            raise Refused("bad_id", name, f"an id must be text or a whole number, found {quoted(value)}")
        value = self._id_prefix + value.strip()
        if len(value) > MAX_ID_LENGTH:
            raise Refused("bad_id", name, f"an id may have {MAX_ID_LENGTH} characters, found {len(value)}")
        return value


def _title(found: Mapping[str, tuple[str, Any]]) -> str:
    name, value = found.get("productTitle", ("productTitle", None))
    if value is None:
        raise Refused("missing_title", "productTitle", "a product needs a title; no column gives one")
    if isinstance(value, bool | list):
        raise Refused("bad_title", name, f"a title must be text, found {quoted(value)}")
    return plain_text(str(value)) or str(value)


def _described(found: Mapping[str, tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for field in ("variantTitle", "variantImageUrl", "brand", "currency", "stock"):
        if field in found:
            value = found[field][1]
            first = value[0] if isinstance(value, list) else value
            yield field, typed(first, "number") if field == "stock" and isinstance(first, str) else first
    if "description" in found:
        value = found["description"][1]
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield "description", plain_text(text)
    if "productCollections" in found:
        yield "productCollections", split_list(found["productCollections"][1])
    if "category" in found:
        yield from _category(found["category"][1])


def _category(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, str) or _PATH_MARK not in value:
        yield "category", value
        return
    path = [part.strip() for part in value.split(_PATH_MARK) if part.strip()]
    if path:
        yield "category", path[-1]
        yield "category_path", path
