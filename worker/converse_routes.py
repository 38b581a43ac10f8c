"""The route of a conversation's turn: checked before the first byte, then a run that is streamed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from worker.converse import Converse
from worker.converse_memory import check_conversation
from worker.converse_payload import (
    MAX_BODY_BYTES,
    ConversePayload,
    read_converse_json,
    read_converse_parameters,
)
from worker.converse_request import build_converse_request
from worker.errors import ShuttingDown
from worker.routes import (
    caller_of,
    query_parameters,
    read_body,
    resume_run,
    services_of,
    settings_of,
    stream_run,
)
from worker.run import Run
from worker.services import Services

router = APIRouter(prefix="/api/v1/indexes/{index}")

_Services = Annotated[Services, Depends(services_of)]
_Caller = Annotated[Caller, Depends(caller_of)]
_Settings = Annotated[SettingsSnapshot, Depends(settings_of)]


@router.get("/agentic-search/converse")
async def get_converse(
    index: str, request: Request, services: _Services, caller: _Caller, settings: _Settings
) -> Response:
    """Stream a turn; with `Last-Event-ID`, go on with the run that the id names, or answer 204."""
    last_event_id = request.headers.get("last-event-id")
    if last_event_id:
        return resume_run(services, caller, index, last_event_id)
    payload = read_converse_parameters(query_parameters(request))
    return await _converse(services, caller, index, payload, settings)


@router.post("/agentic-search/converse")
async def post_converse(
    index: str, request: Request, services: _Services, caller: _Caller, settings: _Settings
) -> Response:
    """Stream a turn whose question may hold pictures; `Last-Event-ID` as for GET."""
    last_event_id = request.headers.get("last-event-id")
    if last_event_id:
        return resume_run(services, caller, index, last_event_id)
    payload = read_converse_json(await read_body(request, MAX_BODY_BYTES))
    return await _converse(services, caller, index, payload, settings)


async def _converse(
    services: Services, caller: Caller, index: str, payload: ConversePayload, settings: SettingsSnapshot
) -> Response:
    if not services.runs.accepting:
        raise ShuttingDown("the server is restarting; please ask again")
    description = await services.search.describe_index(caller, index)
    asked = build_converse_request(caller, index, payload, settings, description)
    await check_conversation(services.conversations, caller.account_id, payload.conversation_id)
    images = await services.images.read(payload.images, payload.image_urls)
    run = Run(account_id=caller.account_id, index=index, rights=caller.rights)
    services.runs.start(run, Converse(services, replace(asked, images=images), run))
    return stream_run(services, run, after=0)
