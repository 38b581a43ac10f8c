"""The gRPC server: `search.v1`, health and reflection, closed within a grace when its block ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from search_proxy.grpc import search_pb2
from search_proxy.grpc.callers import CallerDesk
from search_proxy.grpc.search_pb2_grpc import add_SearchServiceServicer_to_server
from search_proxy.grpc.service import SearchService
from search_proxy.tools.toolbox import Toolbox

SERVICE = search_pb2.DESCRIPTOR.services_by_name["SearchService"].full_name
MOST_CALLS_AT_ONCE = 256
MAX_MESSAGE_BYTES = 256 * 1024
"""Of a request; the longest filter and query take a tenth of it."""

GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RunningGrpc:
    """A server that answers; `port` is the one that was bound."""

    server: grpc.aio.Server
    port: int


@asynccontextmanager
async def serve_grpc(
    toolbox: Toolbox, desk: CallerDesk, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[RunningGrpc]:
    """Serve until the block ends; calls in hand then get a few seconds.

    Raises:
        OSError: The address cannot be bound.
    """
    options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.so_reuseport", 0)]
    server = grpc.aio.server(maximum_concurrent_rpcs=MOST_CALLS_AT_ONCE, options=options)
    healths = health.aio.HealthServicer()
    add_SearchServiceServicer_to_server(SearchService(toolbox, desk), server)  # type: ignore[no-untyped-call]
    health_pb2_grpc.add_HealthServicer_to_server(healths, server)
    reflection.enable_server_reflection(
        (SERVICE, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name, reflection.SERVICE_NAME), server
    )
    shown = f"[{host}]" if ":" in host else host
    try:
        bound = server.add_insecure_port(f"{shown}:{port}")
    except RuntimeError as error:
        raise OSError(f"{shown}:{port} cannot be bound") from error
    await server.start()
    for name in ("", SERVICE):
        await healths.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        yield RunningGrpc(server, bound)
    finally:
        await healths.enter_graceful_shutdown()
        await server.stop(GRACE_SECONDS)
