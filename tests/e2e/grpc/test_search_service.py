"""`search.v1` over a real socket: the generated client, and one that only knows what reflection tells."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from search_proxy.grpc import search_pb2
from search_proxy.grpc.search_pb2_grpc import SearchServiceStub
from tests.search_proxy.tools.corpora import mails
from tests.support.tool_server import ToolServer, open_tool_server

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(folder: Path, **rights: Any) -> AsyncIterator[tuple[ToolServer, Any, Any]]:
    """Yield a server of mails, a channel to it and a stub."""
    async with (
        open_tool_server(folder, {"mail": mails()}, **rights) as server,
        grpc.aio.insecure_channel(server.grpc_address) as channel,
    ):
        yield server, channel, SearchServiceStub(channel)  # type: ignore[no-untyped-call]


def key(token: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a key."""
    return (("authorization", f"Bearer {token}"),)


def sarahs_mail() -> search_pb2.Filter:
    """Return the filter of the walk-through."""
    return search_pb2.Filter(author=["sarah"], tags=["email"])


async def test_the_walk_through_finds_the_mail_and_reads_it(tmp_path: Path) -> None:
    """Filter, then meaning, then one document. Source: the walk-through of `search.v1`."""
    async with serving(tmp_path) as (server, _, stub):
        metadata = key(server.acme.publishable)
        scoped = await stub.FilterDocuments(
            search_pb2.FilterRequest(filter=sarahs_mail(), limit=50), metadata=metadata
        )
        assert len(scoped.hits) == 23
        assert {hit.score_kind for hit in scoped.hits} == {""}
        request = search_pb2.SemanticSearchRequest(
            query="Q3 forecast", filter=sarahs_mail(), limit=5, min_score=0.7
        )
        close = await stub.SemanticSearch(request, metadata=metadata)
        assert {hit.document_id for hit in close.hits} == {"mail-07", "mail-11"}
        assert all(hit.score >= 0.7 for hit in close.hits)
        wanted = search_pb2.GetDocumentRequest(document_id="mail-07")
        mail = await stub.GetDocument(wanted, metadata=metadata)
        assert mail.body.startswith("Sales projections")
        assert mail.created_time.ToDatetime(tzinfo=UTC) == datetime(2026, 6, 28, 14, 30, tzinfo=UTC)
        assert mail.fields["author"] == "sarah"


async def test_limits_default_to_ten_and_end_at_fifty(tmp_path: Path) -> None:
    """0 is the default, more than 50 is 50, and the note says so. Source: `search.v1`, clampLimit."""
    documents = [{"_id": f"d{number}", "productTitle": f"tent {number}"} for number in range(60)]
    async with (
        open_tool_server(tmp_path, {"tents": documents}) as server,
        grpc.aio.insecure_channel(server.grpc_address) as channel,
    ):
        stub = SearchServiceStub(channel)  # type: ignore[no-untyped-call]
        metadata = (*key(server.acme.secret), ("x-index", "tents"))
        for limit, length in ((0, 10), (3, 3), (500, 50)):
            request = search_pb2.KeywordSearchRequest(query="tent", limit=limit)
            answer = await stub.KeywordSearch(request, metadata=metadata)
            assert len(answer.hits) == length
            assert ("limit 500 is over 50: 50 hits at most" in answer.note) == (limit == 500)
        fused = await stub.FusedSearch(search_pb2.FusedSearchRequest(query="tent"), metadata=metadata)
        assert {hit.score_kind for hit in fused.hits} == {"rrf"}


async def test_times_and_order_travel_as_messages(tmp_path: Path) -> None:
    """Timestamps in the filter, `order_by` as text."""
    async with serving(tmp_path) as (server, _, stub):
        after, before = Timestamp(), Timestamp()
        after.FromDatetime(datetime(2026, 6, 28, 14, 30, tzinfo=UTC))
        before.FromDatetime(datetime(2026, 7, 2, 8, 0, 1, tzinfo=UTC))
        wanted = search_pb2.Filter(created_after=after, created_before=before)
        request = search_pb2.FilterRequest(filter=wanted, order_by="created_time asc")
        found = await stub.FilterDocuments(request, metadata=key(server.acme.secret))
        assert [hit.document_id for hit in found.hits] == ["mail-07", "mail-11"]


@pytest.mark.parametrize(
    ("method", "request_", "code", "words"),
    [
        (
            "KeywordSearch",
            search_pb2.KeywordSearchRequest(query="a", filter=search_pb2.Filter(filter_text="a:(")),
            grpc.StatusCode.INVALID_ARGUMENT,
            "position",
        ),
        ("KeywordSearch", search_pb2.KeywordSearchRequest(), grpc.StatusCode.INVALID_ARGUMENT, "'query'"),
        (
            "KeywordSearch",
            search_pb2.KeywordSearchRequest(query="a", limit=-1),
            grpc.StatusCode.INVALID_ARGUMENT,
            "'limit'",
        ),
        (
            "GetDocument",
            search_pb2.GetDocumentRequest(document_id="hidden-1"),
            grpc.StatusCode.NOT_FOUND,
            "no document",
        ),
    ],
)
async def test_a_call_that_cannot_be_answered_has_a_status_and_a_sentence(
    tmp_path: Path, method: str, request_: Any, code: grpc.StatusCode, words: str
) -> None:
    """The status says which kind of wrong, the message what to do."""
    async with serving(tmp_path) as (server, _, stub):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await getattr(stub, method)(request_, metadata=key(server.acme.secret))
        assert failed.value.code() is code
        assert words in str(failed.value.details())


async def test_a_key_opens_its_own_account_and_indexes_alone(tmp_path: Path) -> None:
    """No key, a forged one, another index, another account's index of the same name."""
    async with serving(tmp_path, indexes=("mail",)) as (server, _, stub):
        request = search_pb2.KeywordSearchRequest(query="forecast Q3")
        for metadata, code in (
            ((), grpc.StatusCode.UNAUTHENTICATED),
            (key("sk_forged_forged_forged_forged_forged_forged"), grpc.StatusCode.UNAUTHENTICATED),
            ((*key(server.acme.publishable), ("x-index", "letters")), grpc.StatusCode.NOT_FOUND),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await stub.KeywordSearch(request, metadata=metadata)
            assert failed.value.code() is code
        mine = await stub.KeywordSearch(request, metadata=(("x-api-key", server.acme.publishable),))
        theirs = await stub.KeywordSearch(request, metadata=key(server.other.secret))
        assert "mail-30" in {hit.document_id for hit in mine.hits}
        assert [hit.document_id for hit in theirs.hits] == ["hidden-1"]


async def test_a_deadline_that_has_no_time_left_is_exceeded(tmp_path: Path) -> None:
    """The client's deadline ends the call with its own status."""
    async with serving(tmp_path) as (server, _, stub):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.KeywordSearch(
                search_pb2.KeywordSearchRequest(query="menu"), metadata=key(server.acme.secret), timeout=1e-6
            )
        assert failed.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_health_says_serving_for_the_server_and_the_service(tmp_path: Path) -> None:
    """Source: the gRPC health checking protocol."""
    async with serving(tmp_path) as (_, channel, _stub):
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", "search.v1.SearchService"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_client_without_our_code_calls_through_reflection(tmp_path: Path) -> None:
    """Everything that it needs is told by the server itself."""
    async with serving(tmp_path) as (server, _, _stub):
        answer = await anyio.to_thread.run_sync(_call_by_reflection, server)
        assert answer["hits"][0]["documentId"] == "mail-07"
        assert answer["hits"][0]["scoreKind"] == "bm25"


def _call_by_reflection(server: ToolServer) -> dict[str, Any]:
    with grpc.insecure_channel(server.grpc_address) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        services = set(database.get_services())
        assert services >= {"search.v1.SearchService", "grpc.health.v1.Health"}
        service = DescriptorPool(database).FindServiceByName("search.v1.SearchService")
        method = service.methods_by_name["KeywordSearch"]
        request = GetMessageClass(method.input_type)(query="revenue model draft", limit=1)
        call = channel.unary_unary(
            "/search.v1.SearchService/KeywordSearch",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        return dict(MessageToDict(call(request, metadata=key(server.acme.secret), timeout=5)))


async def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    """The command's task groups wrap the error; a person wants to read which address it was."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "worker.cli",
            "--data-dir",
            str(tmp_path),
            "grpc",
            "--port",
            str(port),
        ]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AISLE_")}
        ended = await anyio.run_process(command, stderr=subprocess.PIPE, check=False, env=clean)
    assert ended.returncode == 1
    assert ended.stderr.decode().splitlines()[-1] == f"aisle grpc: 127.0.0.1:{port} cannot be bound"
    assert b"Traceback" not in ended.stderr
