"""`aisle mcp` and `aisle grpc`: the agent tools for a client that starts them, and for one that calls.

The libraries of both are large, so each is loaded by its own command alone.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import logging
import signal
import sys

import uvloop

from worker.bootstrap import open_services
from worker.logs import configure_logs
from worker.settings import Settings
from worker.tool_parts import product_version

DEFAULT_GRPC_PORT = 8788


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    mcp = commands.add_parser("mcp", help="serve the tools of an index over MCP, on stdin and stdout")
    mcp.add_argument(
        "--index", dest="indexes", metavar="INDEX", action="append", required=True, help="repeatable"
    )
    mcp.add_argument("--account", default="demo", help="account id (default: demo)")
    mcp.set_defaults(start=_mcp)

    grpc = commands.add_parser("grpc", help="serve the tools over gRPC (search.v1)")
    grpc.add_argument("--index", metavar="INDEX", help="asked where a call names none in 'x-index'")
    grpc.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    grpc.add_argument("--port", type=int, help=f"port to listen on (default: {DEFAULT_GRPC_PORT})")
    grpc.add_argument(
        "--demo", action="store_true", help="open the account 'demo' without a key, to this machine alone"
    )
    grpc.set_defaults(start=_grpc)


def _mcp(args: argparse.Namespace, settings: Settings) -> int:
    serve_stdio = importlib.import_module("search_proxy.mcp.stdio_face").serve_stdio
    _log_calls()

    async def run() -> str:
        async with open_services(settings) as services:
            known = await services.backend.list_indexes(args.account)
            absent = [index for index in args.indexes if index not in known]
            if absent:
                there = ", ".join(map(repr, known[:20])) or "none"
                return f"account {args.account!r} has no index {absent[0]!r}; there is {there}"
            await serve_stdio(services.toolbox, args.account, tuple(args.indexes), product_version())
        return ""

    refused = asyncio.run(run())
    if refused:
        sys.stderr.write(f"aisle mcp: {refused}\n")
    return 2 if refused else 0


def _grpc(args: argparse.Namespace, settings: Settings) -> int:
    desk_of = importlib.import_module("search_proxy.grpc.callers").CallerDesk
    serve_grpc = importlib.import_module("search_proxy.grpc.server").serve_grpc
    port = DEFAULT_GRPC_PORT if args.port is None else settings.port
    _log_calls()

    async def run() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        async with open_services(settings) as services:
            # What start-up has made stays until the end: the collector need not look at it again.
            gc.freeze()
            desk = desk_of(accounts=services.accounts, index=args.index, demo=args.demo or settings.demo)
            async with serve_grpc(services.toolbox, desk, host=settings.host, port=port) as running:
                sys.stdout.write(f"aisle grpc is at {settings.host}:{running.port}\n")
                sys.stdout.flush()
                await stopped.wait()

    failures: list[str] = []
    try:
        uvloop.run(run())
    except* OSError as errors:
        # The services run in task groups, each of which wraps what ends it.
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        failures.append(f"aisle grpc: {first}\n")
    sys.stderr.write("".join(failures))
    return 1 if failures else 0


def _log_calls() -> None:
    """Let each call write its line; of the libraries only warnings are heard, as with any command."""
    configure_logs(logging.WARNING, in_background=True)
    logging.getLogger("search_proxy.tools.toolbox").setLevel(logging.INFO)
