"""What can go wrong on the product side.

    SearchError
    ├── IndexNotFound        the account has no such index
    ├── DocumentNotFound     the index has no such document
    ├── InvalidSearch        the request cannot be answered as asked
    │   └── UnknownField     a filter, facet or sort names a field that the index does not have
    ├── InvalidDocument      a document cannot be indexed; the message names it and its field
    ├── AccessDenied         the key does not allow this
    └── SearchUnavailable    the engine could not answer
        └── SearchTimeout    it did not answer in time

`filters.FilterSyntaxError` stands beside this tree: it is a ValueError about one string.
"""

from __future__ import annotations

from collections.abc import Sequence


class SearchError(Exception):
    """The base of every error of this package."""


class IndexNotFound(SearchError):
    """The account has no such index; the same for an index of somebody else."""

    def __init__(self, index: str) -> None:
        super().__init__(f"index {index!r} does not exist")
        self.index = index


class DocumentNotFound(SearchError):
    """The index has no document of that id."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"document {document_id!r} does not exist")
        self.document_id = document_id


class InvalidSearch(SearchError):
    """The request cannot be answered as asked; the message says what would be right."""


class UnknownField(InvalidSearch):
    """A filter, facet or sort names a field that the index does not have."""

    def __init__(self, field: str, known: Sequence[str], where: str = "filter") -> None:
        shown = ", ".join(repr(name) for name in list(known)[:20])
        super().__init__(f"{where} names unknown field {field!r}; this index has {shown or 'no fields'}")
        self.field = field
        self.where = where


class InvalidDocument(SearchError):
    """A document cannot be indexed; nothing of its batch was written."""

    def __init__(self, document: str, field: str, problem: str) -> None:
        super().__init__(f"document {document}, field {field!r}: {problem}")
        self.document = document
        self.field = field
        self.problem = problem


class AccessDenied(SearchError):
    """The key does not allow this."""


class SearchUnavailable(SearchError):
    """The engine could not answer."""


class SearchTimeout(SearchUnavailable):
    """The engine did not answer in time."""
