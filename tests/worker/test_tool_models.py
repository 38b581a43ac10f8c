"""The model behind enrichment and query expansion, over real HTTP: what it is asked, and when it fails."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from search_proxy.enrichment.writing import ANSWER_SCHEMA, INSTRUCTION, EnrichmentFailed, read_answer
from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini.scenarios import bad_key, json_text, rate_limited, unavailable
from worker.llm.credentials import ApiKey
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.gemini_rest import GeminiRest, open_gemini_rest
from worker.tool_enricher import ModelEnricher
from worker.tool_paraphraser import ModelParaphraser

pytestmark = pytest.mark.anyio

NAME = "gemini-3.5-flash-lite"


@asynccontextmanager
async def scripted() -> AsyncIterator[tuple[ScriptedGemini, GeminiRest]]:
    """Yield a scripted model and a client of it."""
    async with (
        ScriptedGemini() as server,
        open_gemini_rest(GeminiEndpoint(base_url=server.base_url), ApiKey("test-key")) as model,
    ):
        yield server, model


async def test_an_enrichment_is_one_structured_call_about_one_document() -> None:
    """Instruction, text and schema as the command has them; the answer becomes an entry."""
    async with scripted() as (server, model):
        server.script(json_text({"keywords": ["bivouac", " shelter "], "description": "A tent."}))
        enricher = ModelEnricher(model, NAME)
        answer = await enricher.write(INSTRUCTION, "title: Tent 3", ANSWER_SCHEMA)
        sent = server.calls[0].body
    entry = read_answer("t3", "hash", enricher.name, answer)
    assert (entry.keywords, entry.description, entry.model) == (("bivouac", "shelter"), "A tent.", NAME)
    assert sent["systemInstruction"]["parts"][0]["text"] == INSTRUCTION
    assert sent["contents"] == [{"role": "user", "parts": [{"text": "title: Tent 3"}]}]
    assert sent["generationConfig"]["responseJsonSchema"] == ANSWER_SCHEMA


async def test_a_busy_model_is_asked_again_and_a_refusing_one_is_not() -> None:
    """What it advised is waited for; after three times the document waits for the next run."""
    async with scripted() as (server, model):
        enricher = ModelEnricher(model, NAME)
        server.script(rate_limited("0s"), rate_limited("0s"), json_text({"keywords": [], "description": "x"}))
        assert json.loads(await enricher.write("do", "text", ANSWER_SCHEMA))["description"] == "x"
        assert len(server.calls) == 3
        server.script(rate_limited("0s"))
        with pytest.raises(EnrichmentFailed, match="the model failed: rate_limited"):
            await enricher.write("do", "text", ANSWER_SCHEMA)
        assert len(server.calls) == 6
        server.script(bad_key())
        with pytest.raises(EnrichmentFailed, match="the model failed: invalid_key"):
            await enricher.write("do", "text", ANSWER_SCHEMA)
        assert len(server.calls) == 7


async def test_paraphrases_are_the_model_s_cut_to_what_was_asked_for() -> None:
    """Texts alone, at most so many, none longer than a query."""
    async with scripted() as (server, model):
        server.script(json_text({"paraphrases": ["small tent", 7, "y" * 500, "light shelter", "more"]}))
        found = await ModelParaphraser(model, NAME).paraphrases("tent for one", 3)
        sent = server.calls[0].body
    assert found == ["small tent", "y" * 200, "light shelter"]
    assert sent["contents"][0]["parts"][0]["text"] == "At most 3 paraphrases of: tent for one"


@pytest.mark.parametrize(
    "script", [unavailable(), bad_key(), json_text("no json"), json_text([1]), json_text({"paraphrases": 5})]
)
async def test_a_model_that_has_no_paraphrases_gives_none(script: object) -> None:
    """Expansion is a help: the catalog's own terms are taken instead."""
    async with scripted() as (server, model):
        server.script(script)  # type: ignore[arg-type]
        assert list(await ModelParaphraser(model, NAME).paraphrases("tent for one", 3)) == []
