"""Writes a model call as Gemini's JSON, and knows where to send it.

The stable part (system, functions, schema) stands first and the conversation last, so that equal
prefixes can be cached upstream.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any

from worker.llm.language_model import (
    FunctionCall,
    FunctionDeclaration,
    FunctionResult,
    Message,
    ModelError,
    ModelRequest,
)
from worker.llm.thinking import least_thinking

_MODEL_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiEndpoint:
    """Where the model is: the Developer API, or Vertex AI where `vertex` is set.

    Vertex with a project uses its regional path; without one, the express path that takes an API key.
    """

    base_url: str = "https://generativelanguage.googleapis.com"
    api_version: str = "v1beta"
    vertex: bool = False
    project: str | None = None
    location: str | None = None

    def url(self, model: str, method: str) -> str:
        """Return the URL of `method` for `model`.

        Raises:
            ModelError: The model's name cannot stand in a path.
        """
        name = model.removeprefix("models/")
        if not _MODEL_NAME.fullmatch(name):
            raise ModelError("not_found", f"model name {model!r} is not letters, digits, '.', '_' and '-'")
        place = "models"
        if self.vertex:
            place = "publishers/google/models"
            if self.project is not None:
                place = f"projects/{self.project}/locations/{self.location or 'global'}/{place}"
        parts = [self.base_url.rstrip("/"), self.api_version, f"{place}/{name}"]
        return "/".join(part for part in parts if part) + (f":{method}" if method else "")


def vertex_endpoint(
    project: str | None = None, location: str = "global", base_url: str | None = None
) -> GeminiEndpoint:
    """Return the endpoint of Vertex AI; without a project, the express one that takes an API key."""
    host = "" if project is None or location == "global" else f"{location}-"
    return GeminiEndpoint(
        base_url=base_url or f"https://{host}aiplatform.googleapis.com",
        api_version="v1beta1",
        vertex=True,
        project=project,
        location=location,
    )


def generation_config(request: ModelRequest) -> dict[str, Any]:
    """Return the `generationConfig` of a call."""
    config: dict[str, Any] = {"candidateCount": 1, "maxOutputTokens": request.max_output_tokens}
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.response_schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = request.response_schema
    thinking = least_thinking(request.model)
    if thinking is not None:
        config["thinkingConfig"] = thinking
    return config


def request_body(request: ModelRequest) -> dict[str, Any]:
    """Return the JSON body of a call."""
    body: dict[str, Any] = {"systemInstruction": {"role": "user", "parts": [{"text": request.system}]}}
    if request.functions:
        body["tools"] = [{"functionDeclarations": [_declaration(each) for each in request.functions]}]
        calling: dict[str, Any] = {"mode": request.calling.upper()}
        if request.stream_function_arguments:
            calling["streamFunctionCallArguments"] = True
        body["toolConfig"] = {"functionCallingConfig": calling}
    body["generationConfig"] = generation_config(request)
    body["contents"] = [_content(message) for message in request.messages]
    return body


def _declaration(function: FunctionDeclaration) -> dict[str, Any]:
    return {
        "name": function.name,
        "description": function.description,
        "parametersJsonSchema": function.parameters,
    }


def _content(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"inlineData": {"mimeType": image.mime_type, "data": base64.b64encode(image.data).decode()}}
        for image in message.images
    ]
    if message.text or not (message.calls or message.results):
        parts.append({"text": message.text})
    parts += [_call(call) for call in message.calls]
    parts += [_result(result) for result in message.results]
    return {"role": message.role, "parts": parts}


def _call(call: FunctionCall) -> dict[str, Any]:
    part: dict[str, Any] = {"functionCall": {"name": call.name, "args": call.args} | _mark(call)}
    return part if call.signature is None else part | {"thoughtSignature": call.signature}


def _result(result: FunctionResult) -> dict[str, Any]:
    answered = {"name": result.call.name, "response": result.response}
    return {"functionResponse": answered | _mark(result.call)}


def _mark(call: FunctionCall) -> dict[str, Any]:
    return {} if call.call_id is None else {"id": call.call_id}
