"""What a catalog's owner says of its language: `aisle catalog synonyms INDEX FILE`, and `load --language`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.engine.languages import STEMMERS
from search_proxy.errors import IndexNotFound, InvalidSearch, SearchError
from search_proxy.models import Document

MAX_FILE_BYTES = 4_194_304
"""Ten thousand rules of four hundred letters."""


@runtime_checkable
class LanguageCatalog(CatalogWriter, Protocol):
    """A catalog whose indexes have a language and synonyms of their own."""

    async def add_documents(
        self, account_id: str, index: str, documents: Sequence[Document], *, language: str | None = None
    ) -> int:
        """Add or replace documents; `language` counts only when that makes the index."""
        ...

    async def set_synonyms(self, account_id: str, index: str, lines: Sequence[str]) -> None:
        """Replace the index's synonyms, a rule per line: `sofa, couch` both ways, `tv => television` one way.

        Raises:
            IndexNotFound: The account has no such index.
            InvalidSearch: A line is not a rule; the message names it.
        """
        ...


class SynonymServices(Protocol):
    """What the command needs of the process."""

    @property
    def catalog(self) -> CatalogWriter:
        """The catalog to write."""
        ...


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `synonyms` to the commands of `aisle catalog`."""
    summary = "replace an index's synonyms by those of a file"
    description = (
        f"{summary}: a rule per line, 'sofa, couch' for words that mean the same and 'tv => television' for"
        " one direction; '#' begins a remark, and an empty file removes all"
    )
    synonyms = subparsers.add_parser("synonyms", help=summary, description=description)
    synonyms.add_argument("index", metavar="INDEX", help="name of the index")
    synonyms.add_argument("file", metavar="FILE", type=Path, help="text file in UTF-8")
    synonyms.add_argument("--account", default="demo", help="account id (default demo)")
    synonyms.set_defaults(run=_synonyms)


def add_language_option(load: argparse.ArgumentParser) -> None:
    """Add `--language` to a command that may make an index."""
    load.add_argument(
        "--language",
        choices=list(STEMMERS),
        help="language of a new index, by which words meet in their stem (default: that of the products)",
    )


async def catalog_in_language(
    catalog: CatalogWriter, backend: SearchBackend, args: argparse.Namespace
) -> CatalogWriter:
    """Return `catalog` such that an index that a load makes through it has the language of `args`.

    Raises:
        InvalidSearch: The index is there already in another one, or the catalog knows no languages.
    """
    language: str | None = args.language
    if language is None:
        return catalog
    if not isinstance(catalog, LanguageCatalog):
        raise InvalidSearch("this engine's indexes have no language; leave out --language")
    try:
        described = await backend.describe(args.account, args.index)
    except IndexNotFound:
        return _InLanguage(catalog, language)
    if args.replace:
        return _InLanguage(catalog, language)
    if described.language != language:
        raise InvalidSearch(
            f"index {args.index!r} is in {described.language!r};"
            f" add --replace to load it anew in {language!r}"
        )
    return catalog


class _InLanguage:
    """A catalog that makes indexes in one language."""

    def __init__(self, catalog: LanguageCatalog, language: str) -> None:
        self._catalog = catalog
        self._language = language

    async def add_documents(self, account_id: str, index: str, documents: Sequence[Document]) -> int:
        """Add or replace documents by `_id`."""
        return await self._catalog.add_documents(account_id, index, documents, language=self._language)

    async def delete_documents(self, account_id: str, index: str, ids: Sequence[str]) -> int:
        """Delete documents by id."""
        return await self._catalog.delete_documents(account_id, index, ids)

    async def delete_index(self, account_id: str, index: str) -> None:
        """Delete the index and its files."""
        await self._catalog.delete_index(account_id, index)


async def _synonyms(args: argparse.Namespace, services: SynonymServices) -> int:
    try:
        lines = _lines(args.file)
        if not isinstance(services.catalog, LanguageCatalog):
            raise InvalidSearch("this engine's indexes have no synonyms")
        await services.catalog.set_synonyms(args.account, args.index, lines)
    except (SearchError, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"aisle: {error}\n")
        return 1
    rules = sum(1 for line in lines if line.partition("#")[0].strip())
    noun = "rule" if rules == 1 else "rules"
    sys.stdout.write(f"index {args.index!r} of account {args.account!r} has {rules:,} synonym {noun}\n")
    return 0


def _lines(path: Path) -> list[str]:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InvalidSearch(f"{str(path)!r} has {path.stat().st_size} bytes, more than {MAX_FILE_BYTES}")
    return path.read_text(encoding="utf-8").splitlines()
