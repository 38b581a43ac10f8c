"""Which model client a process opens for its settings."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AsyncExitStack

import pytest

from tests.support.scripted_gemini import ScriptedGemini
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.vertex_credentials import VertexCredentials
from worker.model_client import model_endpoint, open_model_client
from worker.settings import Settings, SettingsError

pytestmark = pytest.mark.anyio


async def test_without_key_and_project_there_is_no_model() -> None:
    """A shop without a model is a shop that plans by rules."""
    async with AsyncExitStack() as stack:
        assert await open_model_client(Settings.from_env({}), stack) is None


@pytest.mark.parametrize("client", ["rest", "sdk"])
async def test_a_key_opens_the_client_that_the_setting_names(client: str) -> None:
    """Both clients reach the address that was set, with the key."""
    async with ScriptedGemini() as server, AsyncExitStack() as stack:
        values = {"AISLE_GEMINI_BASE_URL": server.base_url, "GOOGLE_API_KEY": "the-key"}
        model = await open_model_client(Settings.from_env(values, gemini_client=client), stack)
        assert model is not None
        await model.warm_up("gemini-3.5-flash-lite")
    assert server.warm_ups[0].headers["x-goog-api-key"] == "the-key"
    assert ("google-genai" in server.warm_ups[0].headers["user-agent"]) == (client == "sdk")


def test_a_project_moves_the_model_to_vertex() -> None:
    """The path names project and location, and a location has a host of its own."""
    values = {"AISLE_VERTEX_PROJECT": "shop", "AISLE_VERTEX_LOCATION": "europe-west4"}
    url = model_endpoint(Settings.from_env(values)).url("gemini-3.5-flash-lite", "streamGenerateContent")
    assert url == (
        "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/shop/locations/europe-west4"
        "/publishers/google/models/gemini-3.5-flash-lite:streamGenerateContent"
    )


async def test_a_client_on_vertex_sends_no_api_key() -> None:
    """A key that is set as well stays at home: Vertex takes Google's default credentials."""
    async with AsyncExitStack() as stack:
        values = {"AISLE_VERTEX_PROJECT": "shop", "GOOGLE_API_KEY": "the-key"}
        model = await open_model_client(Settings.from_env(values), stack)
        assert isinstance(getattr(model, "_credentials", None), VertexCredentials)


def test_growing_arguments_need_vertex() -> None:
    """The Developer API refuses them on every call; the process says so before it starts."""
    with pytest.raises(SettingsError, match="AISLE_MODEL_WIRE: 'partial_args' needs Vertex AI"):
        Settings.from_env({"AISLE_MODEL_WIRE": "partial_args"})
    assert Settings.from_env({"AISLE_MODEL_WIRE": "partial_args", "AISLE_VERTEX_PROJECT": "shop"})


def test_a_worker_with_the_rest_client_does_not_load_the_sdk() -> None:
    """The SDK costs 24 MB and a third of a second, and google-auth comes with requests."""
    asked = "import json, sys, worker.bootstrap; print(json.dumps(sorted(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True, timeout=60)
    assert not {"google.genai", "google.auth"} & set(json.loads(loaded.stdout))


async def test_calls_go_through_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proxy is looked up once, when the client opens; a host that is excepted is asked directly."""
    async with ScriptedGemini() as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        settings = Settings.from_env({"AISLE_GEMINI_BASE_URL": "http://model.invalid", "GOOGLE_API_KEY": "k"})
        async with AsyncExitStack() as stack:
            model = await open_model_client(settings, stack)
            assert model is not None
            await model.warm_up("gemini-3.5-flash-lite")
        assert proxy.warm_ups[0].headers["host"] == "model.invalid"
        direct = model_endpoint(Settings.from_env({"AISLE_GEMINI_BASE_URL": proxy.base_url}))
        async with open_gemini_rest(direct, VertexCredentials()) as model:
            assert model._calls.proxy is None
