"""The seam to a search engine, and the one to a catalog that can be written.

`backends/embedded.py` and `backends/marqo.py` implement them; nothing else knows which is in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from search_proxy.filters import Filter
from search_proxy.models import Document, FoundDocument, IndexDescription, SearchRequest, SearchResult


class SearchBackend(Protocol):
    """Searches the indexes of every account; the account is an argument, never read from a body.

    An engine that ranks first and then drops what does not pass says `filters_before_ranking = False`;
    `backends/adaptive.py` makes a backend of it that keeps what is promised here.
    """

    async def search(self, account_id: str, request: SearchRequest) -> SearchResult:
        """Return one page of hits, with totals and facets that agree with each other.

        Implementations MUST apply the filter before ranking, MUST order equal scores the same way every
        time, MUST answer `_visibleTo` as `filters.visibility` says, and MUST NOT return a document of another
        account.

        Raises:
            IndexNotFound: The account has no such index.
            UnknownField: The filter, a facet or the sort names a field that the index does not have.
            SearchUnavailable: The engine could not answer.
        """
        ...

    async def get_documents(self, account_id: str, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; an unknown id has no document.

        Raises:
            IndexNotFound: The account has no such index.
            SearchUnavailable: The engine could not answer.
        """
        ...

    async def describe(self, account_id: str, index: str, wanted: Filter | None = None) -> IndexDescription:
        """Return the index's fields and sizes, cheaply enough to be called for every request.

        With a filter, fields, values and sizes are those of the documents that pass it, and of no other.

        Raises:
            IndexNotFound: The account has no such index.
            UnknownField: The filter names a field that the index does not have.
            SearchUnavailable: The engine could not answer.
        """
        ...

    async def list_indexes(self, account_id: str) -> Sequence[str]:
        """Return the account's index names, sorted."""
        ...


class CatalogWriter(Protocol):
    """Writes documents; a write is searchable when the call returns, in this process at once."""

    async def add_documents(self, account_id: str, index: str, documents: Sequence[Document]) -> int:
        """Add or replace documents by `_id` in one commit, creating the index; return the number written."""
        ...

    async def delete_documents(self, account_id: str, index: str, ids: Sequence[str]) -> int:
        """Delete documents by id; return how many existed.

        Raises:
            IndexNotFound: The account has no such index.
        """
        ...

    async def delete_index(self, account_id: str, index: str) -> None:
        """Delete the index and its files.

        Raises:
            IndexNotFound: The account has no such index.
        """
        ...
