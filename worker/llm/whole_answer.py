"""One model call whose answer is wanted whole, as text."""

from __future__ import annotations

from contextlib import aclosing

from worker.llm.language_model import LanguageModel, ModelRequest, TextDelta


async def whole_answer(model: LanguageModel, request: ModelRequest) -> str:
    """Return the text of the answer.

    Raises:
        ModelError: The call failed.
    """
    parts: list[str] = []
    async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, TextDelta):
                parts.append(event.text)
    return "".join(parts)
