"""`aisle catalog load | list | show | delete | embed | synonyms | schema`: the catalog's command line.

Reports go to stdout, progress and errors to stderr. `register` adds the commands to a parser; each sets
`run`, an async function of the arguments and the services it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, get_args

import orjson
from tqdm import tqdm

from search_proxy import language_commands, schema_commands
from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.embedding import commands as embedding_commands
from search_proxy.enrichment.commands import add_options, enrich
from search_proxy.errors import SearchError
from search_proxy.feeds import Feed, FeedError, FeedFormat, Refusal, open_feed
from search_proxy.feeds.derived_categories import read_categories
from search_proxy.feeds.load_report import describe_index, describe_load, list_indexes
from search_proxy.feeds.loading import LoadReport, LoadTarget, load_feed
from search_proxy.guides.loading import GuidesError, load_guides

_INDEX_NAME = re.compile(r"[A-Za-z_\-][A-Za-z0-9_\-]{0,127}")
_ACCOUNT_ID = re.compile(r"[A-Za-z0-9_]{1,64}")


class CatalogServices(Protocol):
    """What the catalog commands need of the process."""

    @property
    def catalog(self) -> CatalogWriter:
        """The catalog to write."""
        ...

    @property
    def backend(self) -> SearchBackend:
        """The search that answers over it."""
        ...


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `catalog` and its commands."""
    catalog = subparsers.add_parser("catalog", help="load, list, show and delete product indexes")
    commands = catalog.add_subparsers(dest="catalog_command", metavar="COMMAND", required=True)
    load = _command(commands, "load", _load, "load products from a file", index=True)
    load.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="JSON Lines, CSV, TSV, Shopify CSV or Google Merchant feed; or a folder of guides",
    )
    load.add_argument("--format", choices=get_args(FeedFormat), help="told by the content unless given")
    load.add_argument(
        *("--map", "-m"),
        dest="mapping",
        metavar="FIELD=COLUMN",
        action="append",
        default=[],
        type=_field_and_column,
        help="take a product field from this column; repeatable",
    )
    load.add_argument("--id-prefix", default="", metavar="TEXT", help="put before every id of this file")
    load.add_argument(
        "--replace", action="store_true", help="delete the index before the first products are written"
    )
    load.add_argument(
        "--no-derive", action="store_true", help="derive no category for products that have none"
    )
    load.add_argument("--limit", type=_positive, metavar="N", help="load at most N products")
    load.add_argument(
        "--refused", type=Path, metavar="FILE", help="write every refusal to FILE, one JSON object per line"
    )
    load.add_argument(
        "--show", type=_not_negative, default=10, metavar="N", help="refusals to show (default 10)"
    )
    load.add_argument(
        "--progress", action="store_true", help="show progress even where stderr is no terminal"
    )
    language_commands.add_language_option(load)
    _command(commands, "list", _list, "list the indexes of an account")
    _command(commands, "show", _show, "show an index and its fields", index=True)
    enriching = _command(
        commands, "enrich", enrich, "have a model write keywords and a description per document", index=True
    )
    add_options(enriching)
    _command(commands, "delete", _delete, "delete an index and its products", index=True)
    embedding_commands.register(commands)
    language_commands.register(commands)
    schema_commands.register(commands)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[..., object],
    summary: str,
    *,
    index: bool = False,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary)
    if index:
        parser.add_argument("index", metavar="INDEX", type=_index_name, help="name of the index")
    parser.add_argument("--account", default="demo", type=_account_id, help="account id (default demo)")
    parser.set_defaults(run=run)
    return parser


async def _load_guides(args: argparse.Namespace, services: CatalogServices) -> int:
    hidden = not (args.progress or sys.stderr.isatty())
    with tqdm(desc="loading", unit=" guides", disable=hidden, file=sys.stderr) as bar:

        def move(files: int) -> None:
            bar.update(files - bar.n)

        target = (args.file, services.catalog, args.account, args.index)
        try:
            report = await load_guides(*target, replace=args.replace, on_progress=move)
        except (GuidesError, SearchError, OSError) as error:
            return _failed(str(error))
    sys.stdout.write(report.lines(args.index))
    return 0 if report.sections else 1


async def _load(args: argparse.Namespace, services: CatalogServices) -> int:
    if args.file.is_dir():
        return await _load_guides(args, services)
    report = LoadReport(max_examples=args.show)
    target = LoadTarget(account_id=args.account, index=args.index, replace=args.replace)
    failure: Exception | None = None
    try:
        categories = {} if args.no_derive else await _derive(args)
        feed = _open(args)
    except FeedError as error:
        return _failed(str(error))
    try:
        with (
            _refusals_to(args.refused) as on_refusal,
            _progress(feed, "loading", args.progress) as on_progress,
        ):
            catalog = await language_commands.catalog_in_language(services.catalog, services.backend, args)
            await load_feed(
                *(feed, catalog, target, report),
                limit=args.limit,
                categories=categories,
                on_refusal=on_refusal,
                on_progress=on_progress,
            )
    except (FeedError, SearchError, OSError) as error:
        failure = error
    if failure is None or report.loaded:
        language = None
        if report.loaded:
            language = (await services.backend.describe(args.account, args.index)).language
        sys.stdout.write(describe_load(feed, target, report, language))
    if failure is not None:
        return _failed(str(failure))
    return 0 if report.loaded else 1


async def _derive(args: argparse.Namespace) -> dict[str, str]:
    feed = _open(args)
    with _progress(feed, "reading", args.progress) as on_progress:
        return await asyncio.to_thread(read_categories, feed, limit=args.limit, on_progress=on_progress)


def _open(args: argparse.Namespace) -> Feed:
    return open_feed(args.file, format=args.format, mapping=dict(args.mapping), id_prefix=args.id_prefix)


async def _list(args: argparse.Namespace, services: CatalogServices) -> int:
    try:
        names = await services.backend.list_indexes(args.account)
        descriptions = [await services.backend.describe(args.account, name) for name in names]
    except SearchError as error:
        return _failed(str(error))
    sys.stdout.write(list_indexes(args.account, descriptions))
    return 0


async def _show(args: argparse.Namespace, services: CatalogServices) -> int:
    try:
        sys.stdout.write(describe_index(await services.backend.describe(args.account, args.index)))
    except SearchError as error:
        return _failed(str(error))
    return 0


async def _delete(args: argparse.Namespace, services: CatalogServices) -> int:
    try:
        await services.catalog.delete_index(args.account, args.index)
    except SearchError as error:
        return _failed(str(error))
    sys.stdout.write(f"deleted index {args.index!r} of account {args.account!r}\n")
    return 0


@contextmanager
def _progress(feed: Feed, doing: str, forced: bool) -> Iterator[Callable[[int], None]]:
    hidden = not (forced or sys.stderr.isatty())
    size = feed.total_bytes
    with tqdm(desc=doing, total=size, unit="B", unit_scale=True, disable=hidden, file=sys.stderr) as bar:

        def move(bytes_read: int) -> None:
            bar.update(bytes_read - bar.n)

        yield move


@contextmanager
def _refusals_to(path: Path | None) -> Iterator[Callable[[Refusal], None] | None]:
    if path is None:
        yield None
        return
    with path.open("wb") as file:

        def write(refusal: Refusal) -> None:
            file.write(orjson.dumps(refusal, option=orjson.OPT_APPEND_NEWLINE))

        yield write


def _failed(message: str) -> int:
    sys.stderr.write(f"aisle: {message}\n")
    return 1


def _field_and_column(text: str) -> tuple[str, str]:
    field, mark, column = text.partition("=")
    if not (field.strip() and mark and column):
        raise argparse.ArgumentTypeError(f"expected FIELD=COLUMN, such as price=price_eur, found {text!r}")
    return field.strip(), column


def _index_name(text: str) -> str:
    if not _INDEX_NAME.fullmatch(text):
        expected = "letters, digits, '_' and '-', not beginning with a digit, at most 128"
        raise argparse.ArgumentTypeError(f"an index name has {expected}; found {text!r}")
    return text


def _account_id(text: str) -> str:
    if not _ACCOUNT_ID.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"an account id has letters, digits and '_', at most 64; found {text!r}"
        )
    return text


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 16 and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text!r}")
    return int(text)


def _not_negative(text: str) -> int:
    return 0 if text == "0" else _positive(text)
