"""The worker's application: an agentic search is answered at once, everything else by its route.

A framework's routing, dependencies and error layers around a stream cost more than what the worker itself
does before its first byte, and every layer wraps every one of some eighty sends (docs/performance.md).
"""

from __future__ import annotations

import re

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from worker.agentic_search import AgenticSearch
from worker.aggregate import aggregate
from worker.converse_memory import check_conversation
from worker.converse_search import ConversingSearch
from worker.errors import ShuttingDown, WorkerError
from worker.known_questions import KnownQuestion
from worker.observe.server_timing import server_timing
from worker.payload import MAX_PAYLOAD_BYTES, AgenticPayload, read_json, read_query_parameters
from worker.replies import http_error_response, json_response, search_error_response, worker_error_response
from worker.request import AgenticRequest
from worker.routes import query_parameters, read_body, resume_run, stream_run
from worker.run import Run
from worker.services import Services

MAX_BODY_BYTES = 2 * MAX_PAYLOAD_BYTES
"""A JSON body that wraps base64 is a third larger than what it holds."""

_AGENTIC_SEARCH = re.compile(r"/api/v1/indexes/([^/]+)/agentic-search(/stream)?")


class WorkerFront(FastAPI):
    """The application; `state.services` is set before its first request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whose caller the gateway has put into its state."""
        asked = _AGENTIC_SEARCH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if asked is None:
            await super().__call__(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await _answer(self.state.services, asked[1], request, only_stream=bool(asked[2]))
        except WorkerError as error:
            response = await worker_error_response(request, error)
        except SearchError as error:
            response = await search_error_response(request, error)
        except HTTPException as error:
            response = await http_error_response(request, error)
        await response(scope, receive, send)


async def _answer(services: Services, index: str, request: Request, *, only_stream: bool) -> Response:
    state = request.scope["state"]
    caller: Caller = state["caller"]
    settings: SettingsSnapshot = state["settings"]
    if request.method == "GET":
        last_event_id = request.headers.get("last-event-id")
        if last_event_id:
            return resume_run(services, caller, index, last_event_id)
        payload = read_query_parameters(query_parameters(request))
        return _stream(services, *await _build(services, caller, index, payload, settings))
    if request.method != "POST" or only_stream:
        raise HTTPException(405, headers={"Allow": "GET" if only_stream else "GET, POST"})
    payload = read_json(await read_body(request, MAX_BODY_BYTES))
    agentic, question = await _build(services, caller, index, payload, settings)
    if "text/event-stream" in request.headers.get("accept", ""):
        return _stream(services, agentic, question)
    run = _start(services, agentic, question)
    answer = await aggregate(run, services.runs, request.receive)
    return json_response(answer, headers={"x-aisle-run-id": run.id} | server_timing(answer))


async def _build(
    services: Services, caller: Caller, index: str, payload: AgenticPayload, settings: SettingsSnapshot
) -> tuple[AgenticRequest, KnownQuestion | None]:
    if not services.runs.accepting:
        raise ShuttingDown("the server is restarting; please ask again")
    description = await services.search.describe_index(caller, index)
    if payload.converses:
        await check_conversation(services.conversations, caller.account_id, payload.conversation_id)
    return services.questions.ask(caller, index, payload, settings, description)


def _start(services: Services, agentic: AgenticRequest, question: KnownQuestion | None) -> Run:
    run = Run(account_id=agentic.caller.account_id, index=agentic.index, rights=agentic.caller.rights)
    if agentic.converses:
        services.runs.start(run, ConversingSearch(services, agentic, run))
    else:
        services.runs.start(run, AgenticSearch(services, agentic, run, question=question))
    return run


def _stream(services: Services, agentic: AgenticRequest, question: KnownQuestion | None) -> Response:
    return stream_run(services, _start(services, agentic, question), after=0)
