"""Opens the client of the language model that the settings name: REST or the SDK, by key or on Vertex AI.

google-genai and google-auth cost tens of megabytes and a third of a second to import, so that their modules
are loaded when a setting asks for them.
"""

from __future__ import annotations

import importlib
from contextlib import AsyncExitStack
from dataclasses import replace

from worker.llm.credentials import ApiKey, Credentials
from worker.llm.gemini_request import GeminiEndpoint, vertex_endpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.language_model import LanguageModel
from worker.settings import Settings


async def open_model_client(settings: Settings, stack: AsyncExitStack) -> LanguageModel | None:
    """Return the client, which `stack` closes with all its streams; None where there is no model."""
    key = settings.gemini_api_key
    if key is None and settings.vertex_project is None:
        return None
    endpoint, streams = model_endpoint(settings), settings.max_model_streams
    api_key = None if key is None or endpoint.vertex else ApiKey(key.get_secret_value())
    if settings.gemini_client == "sdk":
        sdk = importlib.import_module("worker.llm.gemini_sdk")
        client: LanguageModel = await stack.enter_async_context(
            sdk.open_gemini_sdk(endpoint, api_key, max_streams=streams)
        )
        return client
    credentials = api_key or _vertex_credentials()
    return await stack.enter_async_context(open_gemini_rest(endpoint, credentials, max_streams=streams))


def model_endpoint(settings: Settings) -> GeminiEndpoint:
    """Return where the model is: Vertex AI where a project is set, else the Developer API."""
    if settings.vertex_project is not None:
        return vertex_endpoint(settings.vertex_project, settings.vertex_location, settings.gemini_base_url)
    endpoint = GeminiEndpoint(api_version=settings.gemini_api_version)
    if settings.gemini_base_url is not None:
        endpoint = replace(endpoint, base_url=settings.gemini_base_url)
    return endpoint


def _vertex_credentials() -> Credentials:
    credentials: Credentials = importlib.import_module("worker.llm.vertex_credentials").VertexCredentials()
    return credentials
