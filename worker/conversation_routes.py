"""An owner's view of conversations: list, read, export, delete; and the questions for a product page.

Owning a conversation is being of its account and knowing its id; the list, which shows ids, is for the
account's secret key, which the gateway asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from conversation import ConversationError, ConversationNotFound
from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from worker.chat_suggestions import ChatSuggestions, SuggestionsRequest
from worker.chat_suggestions_payload import read_suggestions_payload
from worker.errors import InvalidRequest, NotFound, UpstreamFailed
from worker.observe.peer_runs import forget_at_peers
from worker.payload import MAX_PAYLOAD_BYTES
from worker.replies import json_response
from worker.request import check_enabled
from worker.routes import caller_of, page_of, query_parameters, read_body, services_of, settings_of
from worker.services import Services

router = APIRouter(prefix="/api/v1/indexes/{index}")

_Services = Annotated[Services, Depends(services_of)]
_Caller = Annotated[Caller, Depends(caller_of)]
_Settings = Annotated[SettingsSnapshot, Depends(settings_of)]


@router.get("/conversations")
async def list_conversations(request: Request, services: _Services, caller: _Caller) -> Response:
    """List the account's conversations, last used first."""
    limit, offset = page_of(query_parameters(request))
    with _translated():
        found = await services.conversations.list(caller.account_id, limit=limit, offset=offset)
    rows = [
        {
            "conversationId": each.conversation_id,
            "turns": each.turns,
            "createdAt": each.created_at,
            "updatedAt": each.updated_at,
        }
        for each in found
    ]
    return json_response({"conversations": rows, "limit": limit, "offset": offset})


@router.get("/conversations/{conversation_id}")
async def get_conversation(
    conversation_id: str, request: Request, services: _Services, caller: _Caller
) -> Response:
    """Return the turns that are kept; `?format=export` returns everything that is, as a file."""
    wanted = query_parameters(request).get("format", "turns")
    if wanted not in {"turns", "export"}:
        raise InvalidRequest(f"format must be 'turns' or 'export', not {wanted[:40]!r}")
    with _translated():
        exported = await services.conversations.export(caller.account_id, conversation_id)
    if wanted == "export":
        name = f'attachment; filename="conversation-{conversation_id[:12]}.json"'
        return json_response(exported, headers={"content-disposition": name})
    turns = [{name: turn[name] for name in turn if name != "state"} for turn in exported["interactions"]]
    return json_response(
        {name: exported[name] for name in exported if name != "format"} | {"interactions": turns}
    )


@router.delete("/conversations/{conversation_id}")
async def delete_conversation(conversation_id: str, services: _Services, caller: _Caller) -> Response:
    """Delete the conversation, its alarm, and what its streams still hold for late readers."""
    with _translated():
        await services.conversations.delete(caller.account_id, conversation_id)
    services.runs.forget_conversation(caller.account_id, conversation_id)
    await forget_at_peers(services.peers, caller.account_id, conversation_id)
    return Response(status_code=204)


@router.post("/agentic-search/chat-suggestions")
async def post_chat_suggestions(
    index: str, request: Request, services: _Services, caller: _Caller, settings: _Settings
) -> Response:
    """Answer with questions that a shopper may ask about a document."""
    payload = read_suggestions_payload(await read_body(request, MAX_PAYLOAD_BYTES))
    check_enabled(settings.settings, "chat_suggestions", index)
    asked = SuggestionsRequest(
        caller=caller,
        index=index,
        payload=payload,
        settings=settings.settings,
        description=await services.search.describe_index(caller, index),
    )
    return json_response(await ChatSuggestions(services, asked).answer())


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ConversationNotFound as error:
        raise NotFound(str(error)) from error
    except ConversationError as error:
        raise UpstreamFailed("the conversations cannot be read just now; please try again") from error
