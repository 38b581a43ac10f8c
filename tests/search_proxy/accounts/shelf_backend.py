"""A small search backend over documents in memory, with the filter trees evaluated plainly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from search_proxy.errors import IndexNotFound
from search_proxy.filters import (
    AndFilter,
    Filter,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
)
from search_proxy.filters.visibility import VISIBILITY, visibility_of
from search_proxy.models import Document, FoundDocument, IndexDescription, SearchRequest, SearchResult


class ShelfBackend:
    """Finds documents by words of their title; every account has its own shelf."""

    def __init__(self) -> None:
        self.shelves: dict[tuple[str, str], dict[str, Document]] = {}

    def put(self, account_id: str, index: str, *documents: Document) -> None:
        """Put documents on an account's shelf."""
        shelf = self.shelves.setdefault((account_id, index), {})
        shelf.update({str(document["_id"]): document for document in documents})

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Return the documents that pass the filter and have a word of the query."""
        shelf = self._shelf(account_id, request.index)
        words = (request.q or "").lower().split()
        found = [
            {**document, "_score": 1.0}
            for document in shelf.values()
            if matches(request.filter, document)
            and (request.q in (None, "*") or any(word in str(document).lower() for word in words))
        ]
        page = found[request.offset : request.offset + request.limit]
        return SearchResult(
            hits=tuple(page),
            total_hits=len(found),
            facets={},
            query=request.q,
            limit=request.limit,
            offset=request.offset,
            processing_time_ms=0.1,
        )

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id."""
        shelf = self._shelf(account_id, index)
        return [FoundDocument(id=document_id, document=shelf.get(document_id)) for document_id in ids]

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the size of what passes the filter."""
        shelf = [
            document for document in self._shelf(account_id, index).values() if matches(wanted, document)
        ]
        return IndexDescription(
            index=index,
            documents=len(shelf),
            products=len(shelf),
            fields=(),
            category_field=None,
            language="en",
            generation="1",
        )

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        return sorted(index for owner, index in self.shelves if owner == account_id)

    async def add_documents(self, account_id: str, index: str, documents: Sequence[Document]) -> int:
        """Put documents on the shelf."""
        self.put(account_id, index, *documents)
        return len(documents)

    async def delete_documents(self, account_id: str, index: str, ids: Sequence[str]) -> int:
        """Take documents off the shelf."""
        shelf = self._shelf(account_id, index)
        return sum(shelf.pop(document_id, None) is not None for document_id in ids)

    async def delete_index(self, account_id: str, index: str) -> None:
        """Drop the shelf."""
        self._shelf(account_id, index)
        del self.shelves[account_id, index]

    def _shelf(self, account_id: str, index: str) -> dict[str, Document]:
        if (account_id, index) not in self.shelves:
            raise IndexNotFound(index)
        return self.shelves[account_id, index]


def matches(wanted: Filter | None, document: Mapping[str, Any]) -> bool:
    """Return whether a document passes a filter tree."""
    match wanted:
        case None:
            return True
        case AndFilter():
            return matches(wanted.left, document) and matches(wanted.right, document)
        case OrFilter():
            return matches(wanted.left, document) or matches(wanted.right, document)
        case NotFilter():
            return not matches(wanted.operand, document)
        case TermFilter():
            return _as_text(document.get(wanted.field)) == wanted.value.lower()
        case InFilter() if wanted.field == VISIBILITY:
            return bool({*visibility_of(document)} & {*wanted.values})
        case InFilter():
            return _as_text(document.get(wanted.field)) in {value.lower() for value in wanted.values}
        case RangeFilter():
            value = document.get(wanted.field)
            if not isinstance(value, int | float):
                return False
            above = wanted.lower is None or value >= wanted.lower
            return above and (wanted.upper is None or value <= wanted.upper)
        case _:
            return wanted.value.lower() in str(document.get(wanted.field, "")).lower().split()


def _as_text(value: object) -> str | None:
    return None if value is None else str(value).lower()
