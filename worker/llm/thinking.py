"""Chooses the least thinking that a model family allows: a plan is wanted in half a second.

Sending both knobs, or the wrong one, is refused with 400, so a model of an unknown family gets none.
Source: Gemini API, thinking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NUMBERED = re.compile(r"gemini-(\d+)(?:\.(\d+))?-(\w+)")


def least_thinking(model: str) -> Mapping[str, Any] | None:
    """Return the `thinkingConfig` for `model`, or None where none should be sent."""
    name = model.rpartition("/")[2]
    if name in {"gemini-flash-latest", "gemini-flash-lite-latest"}:
        return {"thinkingLevel": "MINIMAL"}
    found = _NUMBERED.match(name)
    if found is None:
        return None
    major, minor, tier = int(found[1]), int(found[2] or 0), found[3]
    if (major, minor) == (2, 5):
        return {"thinkingBudget": 128 if tier == "pro" else 0}
    if major >= 3:
        return {"thinkingLevel": "MINIMAL" if tier == "flash" else "LOW"}
    return None
