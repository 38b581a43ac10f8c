"""`aisle cache`: what an operator does to the cache by hand.

`register` adds the sub-commands to the command line; each leaves an async function under `run`, which
`run_command` runs with the process's configuration. `warm` needs a model and takes it as a `WarmPlanner`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import orjson
from tqdm import tqdm

from cache.config import CacheConfig
from cache.errors import CacheError
from cache.keys import QueryKey, scope_of
from cache.opening import dynamo_target, open_cache, open_table
from cache.warming import WarmPlanner, read_questions, unanswered, warm


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """What a command works with."""

    config: CacheConfig
    out: TextIO
    planner: WarmPlanner | None = None
    errors: TextIO = field(default_factory=lambda: sys.stderr)

    def say(self, **facts: object) -> None:
        """Write one JSON line."""
        self.out.write(orjson.dumps(facts).decode() + "\n")


Run = Callable[[argparse.Namespace, CommandContext], Awaitable[int]]


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add `cache` and its sub-commands to a command line; return the parser of `cache`."""
    commands = subparsers.add_parser("cache", help="look into, fill and clean the cache of answers")
    verbs = commands.add_subparsers(dest="cache_command", required=True, metavar="COMMAND")

    get = _add(verbs, "get", _get, "show the stored answer of a question")
    _question(get)
    get.add_argument("--payload", action="store_true", help="show the stored bytes too")

    list_ = _add(verbs, "list", _list, "list the stored questions of an index, oldest first")
    _index(list_)
    list_.add_argument("--limit", type=_positive, default=1000)

    delete = _add(verbs, "delete", _delete, "delete an answer, pinned or not, or everything of an account")
    delete.add_argument("index", nargs="?")
    delete.add_argument("query", nargs="?")
    delete.add_argument("--account", required=True, type=_name)
    delete.add_argument("--all", action="store_true", help="everything of the account")
    _variant(delete)

    stats = _add(verbs, "stats", _stats, "count what is stored for an index, and what its filter knows")
    _index(stats)

    rebuild = _add(verbs, "rebuild-filter", _rebuild, "build the negative filter of an index from the table")
    _index(rebuild)

    _add(verbs, "create-table", _create_table, "create the DynamoDB table of this environment")

    warm_ = _add(verbs, "warm", _warm, "answer and store the questions of a file, one a line")
    _index(warm_)
    warm_.add_argument("file", type=Path)
    warm_.add_argument("--concurrency", type=_positive, default=4)
    warm_.add_argument("--yes", action="store_true", help="do not stop at the estimate")
    return commands


def run_command(
    args: argparse.Namespace,
    config: CacheConfig,
    *,
    planner: WarmPlanner | None = None,
    out: TextIO = sys.stdout,
    errors: TextIO = sys.stderr,
) -> int:
    """Run what `args` names; return the exit code: 0 done, 1 not there, 2 failed."""
    context = CommandContext(config=config, out=out, planner=planner, errors=errors)
    return asyncio.run(perform(args, context))


async def perform(args: argparse.Namespace, context: CommandContext) -> int:
    """Do what `args` names; what goes wrong is one line, and the exit code 2."""
    run: Run = args.run
    try:
        return await run(args, context)
    except (CacheError, OSError, ValueError, ExceptionGroup) as error:
        told = _innermost(error)
        if not isinstance(told, CacheError | OSError | ValueError):
            raise
        context.errors.write(f"aisle cache {args.cache_command}: {told}\n")
        return 2


def _innermost(error: Exception) -> Exception:
    """Return what was raised inside an open cache, whose task group wraps it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def _get(args: argparse.Namespace, context: CommandContext) -> int:
    key = QueryKey.of(args.account, args.index, args.query, args.variant)
    async with open_cache(context.config) as cache:
        entry = await cache.read(key)
    if entry is None:
        context.say(key=key.text, stored=False)
        return 1
    facts: dict[str, object] = {
        "key": key.text,
        "stored": True,
        "created_at_ms": entry.created_at_ms,
        "tags": dict(entry.tags),
        "pinned": entry.pinned,
        "bytes": len(entry.payload),
    }
    if args.payload:
        facts["payload"] = entry.payload.decode(errors="replace")
    context.say(**facts)
    return 0


async def _list(args: argparse.Namespace, context: CommandContext) -> int:
    table = open_table(context.config)
    left = args.limit
    try:
        async with aclosing(table.changes(scope_of(args.account, args.index), 0)) as pages:
            async for page in pages:
                for change in page[:left]:
                    context.say(key=change.text, written_at_ms=change.written_at_ms)
                left -= len(page)
                if left <= 0:
                    break
    finally:
        await table.close()
    return _found(args, left < args.limit, context)


async def _delete(args: argparse.Namespace, context: CommandContext) -> int:
    if args.all != (args.index is None) or (args.query is None) != args.all:
        raise ValueError("give an index and a query, or --all alone for everything of the account")
    async with open_cache(context.config) as cache:
        if args.all:
            dropped = await cache.drop_account(args.account)
            context.say(account=args.account, deleted=dropped)
            return 0
        key = QueryKey.of(args.account, args.index, args.query, args.variant)
        existed = await cache.delete(key)
    context.say(key=key.text, deleted=int(existed))
    return 0 if existed else 1


async def _stats(args: argparse.Namespace, context: CommandContext) -> int:
    scope = scope_of(args.account, args.index)
    async with open_cache(context.config) as cache:
        keys = await cache.count_keys(args.account, args.index)
        await cache.load_filter(args.account, args.index)
        described = cache.stats()["filters"].get(scope, {})
    context.say(account=args.account, index=args.index, keys=keys, filter=described)
    return 0


async def _rebuild(args: argparse.Namespace, context: CommandContext) -> int:
    async with open_cache(context.config) as cache:
        keys = await cache.rebuild_filter(args.account, args.index)
    context.say(account=args.account, index=args.index, keys=keys)
    return _found(args, keys > 0, context)


def _found(args: argparse.Namespace, is_there: bool, context: CommandContext) -> int:
    """Return the exit code; where nothing is stored, say so: the name may well be a wrong one."""
    if not is_there:
        context.errors.write(
            f"aisle cache {args.cache_command}: nothing is stored for index {args.index!r} of account"
            f" {args.account!r}; `aisle catalog list --account {args.account}` shows its indexes\n"
        )
    return 0 if is_there else 1


async def _create_table(args: argparse.Namespace, context: CommandContext) -> int:
    if context.config.table != "dynamodb":
        raise ValueError("the configured table is 'sqlite', which makes itself; set it to 'dynamodb'")
    target = dynamo_target(context.config)
    create = importlib.import_module("cache.dynamodb_schema").create_table
    made = await asyncio.to_thread(create, target)
    context.say(table=target.table_name, created=made)
    return 0


async def _warm(args: argparse.Namespace, context: CommandContext) -> int:
    if context.planner is None:
        raise ValueError("warming needs a model; none is configured")
    where = {"account_id": args.account, "index": args.index}
    questions = read_questions(args.file)
    async with open_cache(context.config) as cache:
        missing = await unanswered(cache, context.planner, questions=questions, **where)
        tokens = await context.planner.estimate_tokens(args.account, args.index, missing)
        context.say(questions=len(questions), missing=len(missing), estimated_tokens=tokens)
        if not args.yes:
            context.say(hint="run again with --yes to spend them")
            return 0
        with tqdm(total=len(missing), unit="query") as bar:
            report = await warm(
                cache,
                context.planner,
                questions=missing,
                concurrency=args.concurrency,
                on_done=bar.update,
                **where,
            )
    for question, reason in report.why:
        context.say(refused=question, why=reason)
    context.say(stored=report.stored, skipped=report.skipped, refused=report.refused)
    return 0 if report.refused == 0 else 1


def _add(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: Run, help_: str
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=help_)
    parser.set_defaults(run=run)
    return parser


def _index(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("index", type=_name)
    parser.add_argument("--account", required=True, type=_name)


def _question(parser: argparse.ArgumentParser) -> None:
    _index(parser)
    parser.add_argument("query")
    _variant(parser)


def _variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--variant", default=None, help="of a question that is not plain, as the log line shows it"
    )


def _name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"must be a name, got {text!r}")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
