"""A function call goes back to the model as it came, beside its result, whichever client sends it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from tests.support.scripted_gemini import ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from tests.worker.llm.clients import CLIENTS, OpenModel, asking, developer, outcome, vertex
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.language_model import FunctionCall, FunctionDeclaration, FunctionResult, Message

pytestmark = pytest.mark.anyio

CALL = {"name": "keyword_search", "args": {"query": "red tent", "limit": 3}, "id": "call-7"}
LOOK = FunctionDeclaration(
    name="keyword_search",
    description="Finds words.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini() as scripted:
        yield scripted


@pytest.fixture(params=sorted(CLIENTS))
def open_model(request: pytest.FixtureRequest) -> OpenModel:
    """Open one of the clients under contract."""
    return CLIENTS[request.param]


async def test_a_call_keeps_the_marks_that_the_model_gave_it(
    open_model: OpenModel, server: ScriptedGemini
) -> None:
    """Without its id and signature the next call is refused. Source: Gemini API, thought signatures."""
    server.script(s.stream(s.sse(s.chunk({"functionCall": CALL, "thoughtSignature": "c2ln"})), s.finished()))
    async with open_model(vertex(server)) as model:
        events, _ = await outcome(model, replace(asking(), functions=(LOOK,)))
    call = events[0]
    assert isinstance(call, FunctionCall)
    assert (call.name, call.args, call.call_id, call.signature) == (
        "keyword_search",
        {"query": "red tent", "limit": 3},
        "call-7",
        "c2ln",
    )


@pytest.mark.parametrize("endpoint", [developer, vertex])
async def test_calls_and_results_are_sent_as_the_wire_has_them(
    endpoint: Callable[[ScriptedGemini], GeminiEndpoint], open_model: OpenModel, server: ScriptedGemini
) -> None:
    """A model's turn with its calls, then ours with their results, equal by id and name."""
    signed = FunctionCall(name="keyword_search", args={"query": "tent"}, call_id="call-7", signature="c2ln")
    beside = FunctionCall(name="keyword_search", args={"query": "mug"})
    messages = (
        Message(role="user", text="a red tent"),
        Message(role="model", text="", calls=(signed, beside)),
        Message(
            role="user",
            text="",
            results=(
                FunctionResult(call=signed, response={"output": "one tent"}),
                FunctionResult(call=beside, response={"error": "no mugs"}),
            ),
        ),
    )
    server.script(s.stream(s.text_chunk("It is red."), s.finished()))
    asked = replace(asking(), messages=messages, functions=(LOOK,), calling="auto")
    async with open_model(endpoint(server)) as model:
        await outcome(model, asked)
        sent = server.calls[0].body
    assert sent["toolConfig"]["functionCallingConfig"]["mode"] == "AUTO"
    assert sent["contents"] == [
        {"role": "user", "parts": [{"text": "a red tent"}]},
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "keyword_search", "args": {"query": "tent"}, "id": "call-7"},
                    "thoughtSignature": "c2ln",
                },
                {"functionCall": {"name": "keyword_search", "args": {"query": "mug"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "keyword_search",
                        "response": {"output": "one tent"},
                        "id": "call-7",
                    }
                },
                {"functionResponse": {"name": "keyword_search", "response": {"error": "no mugs"}}},
            ],
        },
    ]
