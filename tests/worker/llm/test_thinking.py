"""The least thinking that each model family allows."""

from __future__ import annotations

from typing import Any

import pytest

from worker.llm.thinking import least_thinking


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini-3.5-flash-lite", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3.8-flash", {"thinkingLevel": "MINIMAL"}),
        ("models/gemini-3-flash-preview", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3.1-pro-preview", {"thinkingLevel": "LOW"}),
        ("gemini-4-argon", {"thinkingLevel": "LOW"}),
        ("gemini-flash-latest", {"thinkingLevel": "MINIMAL"}),
        ("gemini-2.5-flash", {"thinkingBudget": 0}),
        ("gemini-2.5-flash-lite", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", {"thinkingBudget": 128}),
        ("gemini-2.0-flash", None),
        ("my-tuned-model", None),
    ],
)
def test_the_knob_fits_the_family(model: str, expected: dict[str, Any] | None) -> None:
    """The wrong knob is refused with 400, so an unknown family gets none."""
    assert least_thinking(model) == expected
