"""`aisle`: the one command. Sub-commands of the other packages register themselves here."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence

from cache import commands as cache_commands
from cache.commands import CommandContext
from search_proxy import catalog_commands
from search_proxy.accounts import commands as account_commands
from search_proxy.accounts.errors import StoreUnavailable
from worker import answer_commands, ask, demo, tool_commands
from worker.app import create_app
from worker.bootstrap import open_services
from worker.command_services import CommandServices
from worker.doctor import doctor_command
from worker.doctor.findings import Finding
from worker.headless import AnswerWarmer
from worker.logs import configure_logs
from worker.observe.worker_place import ALONE, WorkerPlace
from worker.serve import serve
from worker.services import Services
from worker.settings import Settings, SettingsError
from worker.supervisor import serve_with_workers
from worker.tail import tail_command
from worker.trace import trace_commands

_OVERRIDES = ("data_dir", "host", "port", "workers")


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit with its status."""
    args = _parser().parse_args(argv)
    overrides = {name: getattr(args, name, None) for name in _OVERRIDES}
    try:
        settings = Settings.from_env(os.environ, **overrides)
    except SettingsError as error:
        sys.stderr.write(f"aisle: {error}\n")
        sys.exit(2)
    is_server = args.start in (_serve, _demo)
    configure_logs(logging.INFO if is_server else logging.WARNING, in_background=is_server)
    try:
        sys.exit(args.start(args, settings))
    except StoreUnavailable as error:
        sys.stderr.write(f"aisle: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aisle", description="An edge worker for agentic commerce search.")
    parser.add_argument("--data-dir", help="where indexes and databases live (default: .aisle)")
    parser.set_defaults(start=_with_services)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    server = commands.add_parser("serve", help="serve the API and the storefront page")
    _listen_options(server)
    server.set_defaults(start=_serve)

    shop = commands.add_parser("demo", help="load the sample store and serve it, open on the loopback")
    _listen_options(shop)
    shop.set_defaults(start=_demo)

    ask.register(commands)
    catalog_commands.register(commands)
    account_commands.register(commands)
    answer_commands.register(commands)
    tool_commands.register(commands)
    cache_commands.register(commands).set_defaults(start=_cache)
    tail_command.register(commands).set_defaults(start=_tail)
    trace_commands.register(commands).set_defaults(start=_trace)
    doctor_command.register(commands).set_defaults(start=_doctor)
    return parser


def _listen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: 8787)")
    parser.add_argument("--workers", type=int, help="processes that serve together (default: 1)")
    parser.add_argument("--as-worker", type=WorkerPlace.from_text, default=ALONE, help=argparse.SUPPRESS)


def _serve(args: argparse.Namespace, settings: Settings) -> int:
    place: WorkerPlace = args.as_worker
    if settings.workers > 1 and place.folder is None:
        return serve_with_workers(settings, os.environ)
    overrides = {name: getattr(args, name, None) for name in _OVERRIDES}
    app = create_app(lambda: open_services(settings, place))
    serve(app, settings, place, lambda: Settings.from_env(os.environ, demo=settings.demo, **overrides))
    return 0


def _demo(args: argparse.Namespace, settings: Settings) -> int:
    settings = settings.model_copy(update={"demo": True})
    asyncio.run(_load_sample_store(settings))
    return _serve(args, settings)


def _tail(args: argparse.Namespace, settings: Settings) -> int:
    return tail_command.run_tail(args, settings, plain=bool(os.environ.get("NO_COLOR")))


def _doctor(args: argparse.Namespace, settings: Settings) -> int:
    async def with_services(look: Callable[[Services], Awaitable[list[Finding]]]) -> list[Finding]:
        async with open_services(settings) as services:
            return await look(services)

    plain = bool(os.environ.get("NO_COLOR"))
    return doctor_command.run_doctor(args, settings, with_services, plain=plain)


def _trace(args: argparse.Namespace, settings: Settings) -> int:
    return trace_commands.run_trace(args, settings, plain=bool(os.environ.get("NO_COLOR")))


def _with_services(args: argparse.Namespace, settings: Settings) -> int:
    """Run a command that works on the local data, without a server."""

    async def run() -> int:
        async with open_services(settings) as services:
            status: int = await args.run(args, CommandServices(services))
            return status

    return asyncio.run(run())


def _cache(args: argparse.Namespace, settings: Settings) -> int:
    """Run a cache command; only `warm` needs more than the cache."""
    if args.cache_command != "warm":
        return cache_commands.run_command(args, settings.cache_config())

    async def run() -> int:
        async with open_services(settings) as services:
            context = CommandContext(
                config=settings.cache_config(), out=sys.stdout, planner=AnswerWarmer(services)
            )
            return await cache_commands.perform(args, context)

    return asyncio.run(run())


async def _load_sample_store(settings: Settings) -> None:
    async with open_services(settings) as services:
        await demo.load_sample_store(services)


if __name__ == "__main__":
    main()
