"""The model clients under contract, each opened against a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

from tests.support.scripted_gemini import ScriptedGemini
from worker.llm.credentials import ApiKey
from worker.llm.gemini_request import GeminiEndpoint, vertex_endpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.gemini_sdk import open_gemini_sdk
from worker.llm.language_model import LanguageModel, Message, ModelError, ModelEvent, ModelRequest

KEY = ApiKey("test-key")
SCHEMA = {"type": "object", "properties": {"query_expansions": {"type": "array"}}}

OpenModel = Callable[[GeminiEndpoint], AbstractAsyncContextManager[LanguageModel]]


@asynccontextmanager
async def rest(endpoint: GeminiEndpoint) -> AsyncIterator[LanguageModel]:
    """Open the client that reads the REST stream itself."""
    async with open_gemini_rest(endpoint, KEY) as model:
        yield model


@asynccontextmanager
async def sdk(endpoint: GeminiEndpoint) -> AsyncIterator[LanguageModel]:
    """Open the client on top of google-genai."""
    async with open_gemini_sdk(endpoint, KEY) as model:
        yield model


CLIENTS: dict[str, OpenModel] = {"rest": rest, "sdk": sdk}


def developer(server: ScriptedGemini) -> GeminiEndpoint:
    """Return the Developer API's endpoint on that server."""
    return GeminiEndpoint(base_url=server.base_url)


def vertex(server: ScriptedGemini) -> GeminiEndpoint:
    """Return Vertex AI's endpoint on that server."""
    return vertex_endpoint(base_url=server.base_url)


def asking(text: str = "something warm", **more: object) -> ModelRequest:
    """Return a call for JSON text."""
    fields: dict[str, object] = {"response_schema": SCHEMA} | more
    return ModelRequest(
        model="gemini-3.5-flash-lite",
        system="You plan searches.",
        messages=(Message(role="user", text=text),),
        **fields,  # type: ignore[arg-type]
    )


async def outcome(
    model: LanguageModel, request: ModelRequest, *, on_event: Callable[[], None] | None = None
) -> tuple[list[ModelEvent], ModelError | None]:
    """Return the events of a call and the error that ended it, if one did; tell of each event."""
    events: list[ModelEvent] = []
    async with asyncio.timeout(5):
        try:
            async with aclosing(model.stream(request)) as stream:  # type: ignore[type-var]
                async for event in stream:
                    events.append(event)
                    if on_event is not None:
                        on_event()
        except ModelError as error:
            return events, error
    return events, None
