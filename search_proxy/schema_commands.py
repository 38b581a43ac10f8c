"""`aisle catalog schema INDEX [FILE]`: reads or declares what of the products is searched, and how."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Protocol

import orjson

from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.engine.schema import read_declaration
from search_proxy.errors import InvalidSearch, SearchError
from search_proxy.index_schema import DeclaringCatalog, schema_in_force

MAX_FILE_BYTES = 1_048_576
"""A thousand fields with long names."""


class SchemaServices(Protocol):
    """What the command needs of the process."""

    @property
    def catalog(self) -> CatalogWriter:
        """The catalog to write."""
        ...

    @property
    def backend(self) -> SearchBackend:
        """The search that answers over it."""
        ...


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `schema` to the commands of `aisle catalog`."""
    summary = "show or declare an index's fields, boosts, facets, language and fusion"
    description = (
        f"{summary}. Without FILE it prints what is in force, in the form that FILE takes. FILE replaces all"
        " that was declared before; what it leaves out is decided by the feed. An index that is not there yet"
        " is made, so that its first load is indexed that way."
    )
    schema = subparsers.add_parser("schema", help=summary, description=description)
    schema.add_argument("index", metavar="INDEX", help="name of the index")
    schema.add_argument("file", metavar="FILE", nargs="?", help="JSON file, - for the standard input")
    schema.add_argument("--account", default="demo", help="account id (default demo)")
    schema.set_defaults(run=_schema)


async def _schema(args: argparse.Namespace, services: SchemaServices) -> int:
    catalog = services.catalog
    try:
        if not isinstance(catalog, DeclaringCatalog):
            raise InvalidSearch("this engine's indexes have no schema")
        if args.file is None:
            description = await services.backend.describe(args.account, args.index)
            shown = await schema_in_force(catalog, args.account, description)
            sys.stdout.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode() + "\n")
            return 0
        declaration = read_declaration(_read(args.file))
        written = await catalog.declare_schema(args.account, args.index, declaration)
    except (SearchError, OSError) as error:
        sys.stderr.write(f"aisle: {error}\n")
        return 1
    done = f"{written:,} documents were indexed anew" if written else "searches use it from now on"
    sys.stdout.write(f"index {args.index!r} of account {args.account!r} has its schema; {done}\n")
    return 0


def _read(name: str) -> Any:
    if name == "-":
        raw = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise InvalidSearch(f"{name!r} has more than {MAX_FILE_BYTES} bytes")
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise InvalidSearch(f"{name!r} is not JSON: {error}") from error
