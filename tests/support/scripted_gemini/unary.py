"""The calls that need no script: token counts and embeddings, computed from the request's text."""

from __future__ import annotations

import hashlib
import math
from typing import Any

_DIMENSIONS = 8
_NAMES = frozenset({"model", "role", "taskType"})


def unary_answer(method: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return status and JSON body for a call that is not a generation."""
    if method == "countTokens":
        return 200, {"totalTokens": len(_words(body))}
    if method == "embedContent":
        return 200, {"embedding": {"values": _vector(_words(body), body)}}
    if method == "batchEmbedContents":
        vectors = [{"values": _vector(_words(each), each)} for each in body.get("requests", [])]
        return 200, {"embeddings": vectors}
    message = f"no method {method!r}"
    return 404, {"error": {"code": 404, "status": "NOT_FOUND", "message": message}}


def _words(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [word for key, each in value.items() if key not in _NAMES for word in _words(each)]
    if isinstance(value, list):
        return [word for each in value for word in _words(each)]
    return value.split() if isinstance(value, str) else []


def _vector(words: list[str], body: dict[str, Any]) -> list[float]:
    size = int(body.get("outputDimensionality") or _DIMENSIONS)
    vector = [0.0] * size
    for word in words:
        digest = hashlib.sha256(word.lower().encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % size] += 1.0 if digest[4] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
