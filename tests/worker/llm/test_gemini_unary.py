"""Token counts and embeddings through the SDK, over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.worker.llm.clients import KEY, developer
from worker.llm.gemini_sdk import open_gemini_sdk
from worker.llm.gemini_unary import MAX_TEXTS, GeminiUnary
from worker.llm.language_model import ModelError

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve on the loopback."""
    async with ScriptedGemini() as scripted:
        yield scripted


async def test_tokens_are_counted(server: ScriptedGemini) -> None:
    """The server counts words."""
    async with open_gemini_sdk(developer(server), KEY) as sdk:
        assert await GeminiUnary(sdk.client).count_tokens("gemini-3.5-flash-lite", "a warm tent") == 3
    assert server.calls[0].method == "countTokens"


async def test_each_text_has_a_vector_in_order(server: ScriptedGemini) -> None:
    """More texts than one call takes are sent in several."""
    texts = [f"text {number}" for number in range(MAX_TEXTS + 1)]
    async with open_gemini_sdk(developer(server), KEY) as sdk:
        unary = GeminiUnary(sdk.client)
        vectors = await unary.embed("gemini-embedding-001", texts, dimensions=16)
        last = await unary.embed("gemini-embedding-001", texts[-1:], dimensions=16)
    assert (len(vectors), {len(vector) for vector in vectors}) == (MAX_TEXTS + 1, {16})
    assert vectors[-1] == last[0]
    assert len(server.calls) == 3


async def test_nothing_to_embed_asks_nobody(server: ScriptedGemini) -> None:
    """No texts, no call."""
    async with open_gemini_sdk(developer(server), KEY) as sdk:
        assert await GeminiUnary(sdk.client).embed("gemini-embedding-001", []) == []
    assert server.calls == []


async def test_a_failed_call_is_a_model_error(server: ScriptedGemini) -> None:
    """As for streams."""
    server.stop_listening()
    async with open_gemini_sdk(developer(server), KEY) as sdk:
        with pytest.raises(ModelError, match="cannot connect") as caught:
            await GeminiUnary(sdk.client).count_tokens("gemini-3.5-flash-lite", "x")
    assert (caught.value.kind, caught.value.retryable) == ("unavailable", True)
