"""Between our model calls and the SDK's types: requests one way, response chunks the other."""

from __future__ import annotations

import base64
from typing import Any

from google.genai import types

from worker.llm.gemini_request import generation_config
from worker.llm.language_model import FunctionCall, FunctionResult, Message, ModelRequest


def sdk_config(request: ModelRequest) -> types.GenerateContentConfig:
    """Return the SDK's form of everything in a call but its messages."""
    written = generation_config(request)
    thinking = written.get("thinkingConfig")
    return types.GenerateContentConfig(
        system_instruction=request.system,
        candidate_count=1,
        max_output_tokens=request.max_output_tokens,
        temperature=request.temperature,
        response_mime_type=written.get("responseMimeType"),
        response_json_schema=written.get("responseJsonSchema"),
        thinking_config=types.ThinkingConfig.model_validate(thinking) if thinking else None,
        tools=_tools(request),
        tool_config=_tool_config(request),
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def sdk_contents(request: ModelRequest) -> list[types.Content]:
    """Return the SDK's form of the messages."""
    return [_content(message) for message in request.messages]


def wire_form(chunk: types.GenerateContentResponse, finish_message: str | None) -> dict[str, Any]:
    """Return what we read of a response chunk, as it stood on the wire."""
    form: dict[str, Any] = {
        "candidates": [_candidate(each, finish_message) for each in chunk.candidates or ()]
    }
    usage, feedback = chunk.usage_metadata, chunk.prompt_feedback
    if usage is not None:
        form["usageMetadata"] = {
            "promptTokenCount": usage.prompt_token_count,
            "candidatesTokenCount": usage.candidates_token_count,
            "thoughtsTokenCount": usage.thoughts_token_count,
            "cachedContentTokenCount": usage.cached_content_token_count,
        }
    if feedback is not None and feedback.block_reason is not None:
        form["promptFeedback"] = {"blockReason": feedback.block_reason.value}
    return form


def _content(message: Message) -> types.Content:
    parts = [types.Part.from_bytes(data=image.data, mime_type=image.mime_type) for image in message.images]
    if message.text or not (message.calls or message.results):
        parts.append(types.Part(text=message.text))
    parts += [_call(call) for call in message.calls]
    parts += [_result(result) for result in message.results]
    return types.Content(role=message.role, parts=parts)


def _call(call: FunctionCall) -> types.Part:
    return types.Part(
        function_call=types.FunctionCall(id=call.call_id, name=call.name, args=dict(call.args)),
        thought_signature=None if call.signature is None else base64.b64decode(call.signature),
    )


def _result(result: FunctionResult) -> types.Part:
    return types.Part(
        function_response=types.FunctionResponse(
            id=result.call.call_id, name=result.call.name, response=dict(result.response)
        )
    )


def _tools(request: ModelRequest) -> list[types.Tool | Any] | None:
    if not request.functions:
        return None
    declared = [
        types.FunctionDeclaration(
            name=each.name, description=each.description, parameters_json_schema=each.parameters
        )
        for each in request.functions
    ]
    return [types.Tool(function_declarations=declared)]


def _tool_config(request: ModelRequest) -> types.ToolConfig | None:
    if not request.functions:
        return None
    calling = types.FunctionCallingConfig(
        mode=types.FunctionCallingConfigMode(request.calling.upper()),
        stream_function_call_arguments=True if request.stream_function_arguments else None,
    )
    return types.ToolConfig(function_calling_config=calling)


def _candidate(candidate: types.Candidate, finish_message: str | None) -> dict[str, Any]:
    form: dict[str, Any] = {"index": candidate.index}
    if candidate.content is not None:
        form["content"] = {"parts": [_part(part) for part in candidate.content.parts or ()]}
    if candidate.finish_reason is not None:
        form["finishReason"] = candidate.finish_reason.value
        form["finishMessage"] = candidate.finish_message or finish_message
    return form


def _part(part: types.Part) -> dict[str, Any]:
    form: dict[str, Any] = {"thought": part.thought, "text": part.text}
    call = part.function_call
    if call is not None:
        form["functionCall"] = {
            "id": call.id,
            "name": call.name,
            "args": call.args,
            "partialArgs": [_leaf(leaf) for leaf in call.partial_args or ()],
            "willContinue": call.will_continue,
        }
    if part.thought_signature is not None:
        form["thoughtSignature"] = base64.b64encode(part.thought_signature).decode()
    return form


def _leaf(leaf: types.PartialArg) -> dict[str, Any]:
    return {
        "jsonPath": leaf.json_path,
        "stringValue": leaf.string_value,
        "numberValue": leaf.number_value,
        "boolValue": leaf.bool_value,
        "willContinue": leaf.will_continue,
    }
