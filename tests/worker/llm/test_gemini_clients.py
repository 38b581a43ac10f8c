"""What the clients do besides streaming: addresses, warm-up, credentials, and no surprise transport."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import aiohttp
import httpx2
import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.worker.llm.clients import CLIENTS, KEY, asking, developer, outcome
from worker.llm.gemini_request import GeminiEndpoint, vertex_endpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.gemini_sdk import open_gemini_sdk
from worker.llm.language_model import ModelError
from worker.llm.sdk_transport import SdkTransport
from worker.llm.vertex_credentials import VertexCredentials

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini(s.json_text()) as scripted:
        yield scripted


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (GeminiEndpoint(), "https://generativelanguage.googleapis.com/v1beta/models/m:x"),
        (
            GeminiEndpoint(base_url="https://gw.example/v1/a/google/", api_version="v1"),
            "https://gw.example/v1/a/google/v1/models/m:x",
        ),
        (GeminiEndpoint(base_url="http://h", api_version=""), "http://h/models/m:x"),
        (vertex_endpoint(), "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/m:x"),
        (
            vertex_endpoint("p", "europe-west4"),
            "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west4"
            "/publishers/google/models/m:x",
        ),
    ],
)
def test_the_address_of_a_method(endpoint: GeminiEndpoint, expected: str) -> None:
    """A gateway's path prefix is kept, an empty version is left out."""
    assert endpoint.url("models/m", "x") == expected


@pytest.mark.parametrize("model", ["", "../v1/files", "a b", "m?key=1"])
def test_a_model_name_cannot_change_the_path(model: str) -> None:
    """Names come from settings; a slip must not become another call."""
    with pytest.raises(ModelError, match="model name"):
        GeminiEndpoint().url(model, "x")


async def test_an_installed_aiohttp_does_not_change_the_sdks_transport(server: ScriptedGemini) -> None:
    """The SDK takes aiohttp where it can be imported, unless it is given a transport. Source: design."""
    assert aiohttp.__version__
    async with open_gemini_sdk(developer(server), KEY) as sdk:
        assert not sdk.client._api_client._use_aiohttp()
        http = sdk.client._api_client._async_httpx_client
        assert isinstance(http, httpx2.AsyncClient)
        assert isinstance(http._transport, SdkTransport)
        await outcome(sdk, asking())
    assert "aiohttp" not in server.calls[0].headers["user-agent"]


@pytest.mark.parametrize("name", sorted(CLIENTS))
async def test_warming_up_opens_the_connection_that_the_first_call_uses(
    name: str, server: ScriptedGemini
) -> None:
    """The handshake is paid before the first shopper comes."""
    async with CLIENTS[name](developer(server)) as model, asyncio.timeout(5):
        await model.warm_up("gemini-3.5-flash-lite")
        await outcome(model, asking())
    assert [call.verb for call in (*server.warm_ups, *server.calls)] == ["GET", "POST"]
    assert server.connections_made == 1


@pytest.mark.parametrize("name", sorted(CLIENTS))
async def test_a_failed_warm_up_is_logged(
    name: str, server: ScriptedGemini, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker starts without its model."""
    server.stop_listening()
    with caplog.at_level(logging.WARNING):
        async with CLIENTS[name](developer(server)) as model:
            await model.warm_up("gemini-3.5-flash-lite")
    assert [record.message for record in caplog.records] == ["model_warm_up_failed"]


@pytest.mark.parametrize("name", sorted(CLIENTS))
async def test_an_error_beside_an_open_client_stays_as_it_is(name: str, server: ScriptedGemini) -> None:
    """A worker that fails to start says why, not that a group failed."""
    with pytest.raises(KeyError):
        async with CLIENTS[name](developer(server)):
            raise KeyError("elsewhere")


class StubToken:
    """Credentials as google-auth has them, with a token that expires when told."""

    quota_project_id = "payer"

    def __init__(self) -> None:
        self.valid = False
        self.token = ""
        self.refreshes = 0

    def refresh(self, request: object) -> None:
        """Get a new token."""
        self.refreshes += 1
        self.token, self.valid = f"token-{self.refreshes}", True


async def test_a_vertex_token_is_refreshed_once_for_all_calls(server: ScriptedGemini) -> None:
    """Calls at once share one refresh; the token and the paying project are headers."""
    stub = StubToken()
    credentials = VertexCredentials(stub)
    async with open_gemini_rest(vertex_endpoint("p", base_url=server.base_url), credentials) as model:
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(outcome(model, asking()), name=f"call:{number}")
        stub.valid = False
        await outcome(model, asking())
    tokens = [call.headers["authorization"] for call in server.calls]
    assert tokens == ["Bearer token-1"] * 3 + ["Bearer token-2"]
    assert {call.headers["x-goog-user-project"] for call in server.calls} == {"payer"}
    assert server.calls[0].path.startswith("/v1beta1/projects/p/locations/global/publishers/google/models/")


def test_a_key_is_not_shown() -> None:
    """No log line of a client's parts holds the key."""
    assert "test-key" not in repr(KEY)
