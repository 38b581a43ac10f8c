"""The products that a question is about: fetched, cut to a bound, and fenced as data.

A product page asks about its product, "the second one" about what was shown. A document's text may be
anybody's, so it stands between tags that it cannot close, and nothing in it is an instruction.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.models import Document
from worker.llm.prompts import fenced

MAX_FIELD_CHARACTERS = 1_200
"""A description's first two paragraphs; what comes after is rarely asked for."""
MAX_DOCUMENT_CHARACTERS = 6_000
MAX_CONTEXT_CHARACTERS = 32_000
"""About 8,000 tokens for all products together."""
_FIRST_FIELDS = ("_id", "productTitle", "variantTitle", "price", "currency", "category", "brand")
_NEVER_SHOWN = frozenset({"variantImageUrl", "imageUrl", "image", "url", "link"})


class ReviewSummaries(Protocol):
    """Gives what shoppers say of products, as far as it was stored."""

    async def summaries(self, account_id: str, index: str, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the summaries of those of the ids that have one; none where they cannot be read."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductContext:
    """Products as the model may see them; `unknown_ids` do not exist for this caller."""

    documents: tuple[Document, ...] = ()
    unknown_ids: tuple[str, ...] = ()
    text: str = ""

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the products that were found."""
        return frozenset(str(document["_id"]) for document in self.documents)


async def fetch_product_context(
    search: SearchBinding,
    reviews: ReviewSummaries,
    caller: Caller,
    index: str,
    ids: Sequence[str],
    fields: Sequence[str] | None = None,
    *,
    timeout_seconds: float = 5.0,
) -> ProductContext:
    """Return the products of these ids with their review summaries, as the caller may see them.

    Raises:
        SearchError: They could not be fetched.
        TimeoutError: They did not come in time.
    """
    if not ids:
        return ProductContext()
    async with asyncio.timeout(timeout_seconds):
        found = await search.get_documents(caller, index, ids)
    documents = tuple({**entry.document, "_id": entry.id} for entry in found if entry.document is not None)
    known = [str(document["_id"]) for document in documents]
    summaries = await reviews.summaries(caller.account_id, index, known)
    return ProductContext(
        documents=documents,
        unknown_ids=tuple(entry.id for entry in found if entry.document is None),
        text=context_text(documents, fields, summaries),
    )


def context_text(
    documents: Sequence[Document], fields: Sequence[str] | None, summaries: Mapping[str, str]
) -> str:
    """Return the products as fenced JSON lines, one each, within the bounds; empty where there are none."""
    lines: list[str] = []
    room = MAX_CONTEXT_CHARACTERS
    for document in documents:
        line = _line(document, fields, summaries.get(str(document["_id"])))
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return fenced("products", "\n".join(lines)) if lines else ""


def _line(document: Document, fields: Sequence[str] | None, reviews: str | None) -> str:
    shown: dict[str, Any] = {"_id": document["_id"]}
    room = MAX_DOCUMENT_CHARACTERS
    names = fields if fields is not None else _by_importance(document)
    for name in names:
        if name not in document or name in shown:
            continue
        value = _cut(document[name])
        room -= len(name) + len(str(value))
        if room < 0:
            break
        shown[name] = value
    if reviews is not None:
        shown["reviews"] = reviews[:MAX_FIELD_CHARACTERS]
    return json.dumps(shown, ensure_ascii=False, default=str)


def _by_importance(document: Document) -> list[str]:
    """Return the fields, short facts before long texts, so that a bound cuts the texts."""
    named = [name for name in _FIRST_FIELDS if name in document]
    rest = [name for name in document if name not in named and name not in _NEVER_SHOWN and name[0] != "_"]
    return [*named, *sorted(rest, key=lambda name: len(str(document[name])))]


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_FIELD_CHARACTERS]
    if isinstance(value, list):
        return [str(item)[:200] for item in value[:30]]
    if isinstance(value, bool | int | float) or value is None:
        return value
    return str(value)[:MAX_FIELD_CHARACTERS]
