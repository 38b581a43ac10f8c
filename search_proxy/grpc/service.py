"""`search.v1` over the tools: each call is one tool call, a failure is a status with its sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import grpc

from search_proxy.grpc import search_pb2
from search_proxy.grpc.callers import CallerDesk, CallRefused
from search_proxy.grpc.messages import document, search_arguments, search_response
from search_proxy.grpc.search_pb2_grpc import SearchServiceServicer
from search_proxy.tools.definition import FailureKind
from search_proxy.tools.toolbox import Toolbox

_STATUS: Mapping[FailureKind, grpc.StatusCode] = {
    "invalid": grpc.StatusCode.INVALID_ARGUMENT,
    "not_found": grpc.StatusCode.NOT_FOUND,
    "unavailable": grpc.StatusCode.UNAVAILABLE,
    "timeout": grpc.StatusCode.DEADLINE_EXCEEDED,
    "denied": grpc.StatusCode.PERMISSION_DENIED,
}


class SearchService(SearchServiceServicer):
    """Answers the five calls. The method names are the wire's."""

    def __init__(self, toolbox: Toolbox, desk: CallerDesk) -> None:
        self._toolbox = toolbox
        self._desk = desk

    async def KeywordSearch(self, request: Any, context: Any) -> search_pb2.SearchResponse:
        """Rank by words."""
        return await self._searched(context, "keyword_search", request)

    async def SemanticSearch(self, request: Any, context: Any) -> search_pb2.SearchResponse:
        """Rank by meaning."""
        return await self._searched(context, "semantic_search", request)

    async def FilterDocuments(self, request: Any, context: Any) -> search_pb2.SearchResponse:
        """List what passes a filter."""
        return await self._searched(context, "filter_documents", request)

    async def FusedSearch(self, request: Any, context: Any) -> search_pb2.SearchResponse:
        """Rank by words and by meaning."""
        return await self._searched(context, "fused_search", request)

    async def GetDocument(self, request: Any, context: Any) -> search_pb2.Document:
        """Return one whole document."""
        return document(
            await self._answer(context, "get_document", lambda: {"document_id": request.document_id})
        )

    async def _searched(self, context: Any, tool: str, request: Any) -> search_pb2.SearchResponse:
        answer = await self._answer(context, tool, lambda: search_arguments(request))
        return search_response(answer, request.limit)

    async def _answer(self, context: Any, tool: str, arguments: Any) -> Mapping[str, Any]:
        """Return the tool's answer, or end the call with its status."""
        try:
            with self._desk.admitted(context) as (caller, index):
                # The caller's deadline ends the work, not only the wait for it.
                async with asyncio.timeout(context.time_remaining()):
                    answer = await self._toolbox.call(caller, index, tool, arguments(), face="grpc")
        except CallRefused as refused:
            return await self._ended(context, refused.code, str(refused))
        except TimeoutError:
            return await self._ended(context, grpc.StatusCode.DEADLINE_EXCEEDED, f"{tool} ran out of time")
        if answer.structured is None:
            return await self._ended(context, _STATUS[answer.failure or "unavailable"], answer.text)
        return answer.structured

    async def _ended(self, context: Any, code: grpc.StatusCode, sentence: str) -> Mapping[str, Any]:
        await context.abort(code, sentence)
        raise AssertionError("abort always raises")
