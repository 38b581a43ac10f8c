"""Writes a chunk as the SDK reads it, whatever stood in it.

The SDK refuses a whole chunk for one field of another kind than it expects, and most fields are of no use
here. What is read is kept in the kind that it must have, everything else is left out.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

import orjson
from google.genai import types

from worker.llm.answer_payloads import load_json
from worker.llm.gemini_chunks import is_first, token_count
from worker.llm.gemini_errors import error_from_event

_FINISH_REASONS = frozenset(types.FinishReason.__members__)
_BLOCK_REASONS = frozenset(types.BlockedReason.__members__)
_COUNTS = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
_VALUES: dict[str, type | tuple[type, ...]] = {
    "jsonPath": str,
    "stringValue": str,
    "numberValue": (int, float),
    "boolValue": bool,
    "willContinue": bool,
}


def readable_chunk(payload: bytes) -> tuple[bytes, str | None]:
    """Return the chunk in the SDK's form and the finish message, which the SDK drops.

    Raises:
        ModelError: It is not JSON, or says that the model failed.
    """
    chunk = load_json(payload)
    if not isinstance(chunk, dict):
        chunk = {}
    if chunk.get("error"):
        raise error_from_event(chunk)
    form: dict[str, Any] = {}
    message = None
    candidates = chunk.get("candidates")
    first = next(filter(is_first, candidates), None) if isinstance(candidates, list) else None
    if first is not None:
        form["candidates"] = [_candidate(first)]
        message = _finish_message(first)
    usage, feedback = chunk.get("usageMetadata"), chunk.get("promptFeedback")
    if isinstance(usage, dict):
        form["usageMetadata"] = {name: token_count(usage.get(name)) for name in _COUNTS}
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        form["promptFeedback"] = {"blockReason": _known(feedback["blockReason"], _BLOCK_REASONS)}
    return orjson.dumps(form), message


def _candidate(candidate: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"index": 0}
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    if isinstance(parts, list):
        form["content"] = {
            "role": "model",
            "parts": [_part(each) for each in parts if isinstance(each, dict)],
        }
    if candidate.get("finishReason"):
        form["finishReason"] = _known(candidate["finishReason"], _FINISH_REASONS)
    return form


def _finish_message(candidate: dict[str, Any]) -> str | None:
    reason, message = candidate.get("finishReason"), candidate.get("finishMessage") or ""
    if reason and _known(reason, _FINISH_REASONS) != str(reason).upper():
        message = f"{reason} {message}"
    return str(message).strip() or None


def _known(reason: Any, known: frozenset[str]) -> str:
    """Return the reason if the SDK knows it: of others it makes warnings."""
    word = str(reason).upper()
    return word if word in known else "OTHER"


def _part(part: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = {"thought": True} if part.get("thought") else {}
    text, call, signature = part.get("text"), part.get("functionCall"), part.get("thoughtSignature")
    if isinstance(text, str):
        form["text"] = text
    if isinstance(call, dict):
        form["functionCall"] = _call(call)
    if _is_base64(signature):
        form["thoughtSignature"] = signature
    return form


def _call(call: dict[str, Any]) -> dict[str, Any]:
    form = {name: call[name] for name in ("name", "id") if isinstance(call.get(name), str)}
    leaves = call.get("partialArgs")
    if call.get("args") is not None:
        form["args"] = call["args"]
    if isinstance(leaves, list):
        form["partialArgs"] = [_leaf(each) for each in leaves]
    if call.get("willContinue"):
        form["willContinue"] = True
    return form


def _leaf(leaf: Any) -> dict[str, Any]:
    if not isinstance(leaf, dict):
        return {}
    return {name: leaf[name] for name, kind in _VALUES.items() if isinstance(leaf.get(name), kind)}


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return False
