"""Writes enrichments with the process's model, for `aisle catalog enrich`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from search_proxy.enrichment.writing import ANSWER_TOKENS, EnrichmentFailed
from worker.llm.language_model import LanguageModel, Message, ModelError, ModelRequest
from worker.llm.whole_answer import whole_answer

SECONDS = 60.0
_ATTEMPTS = 3
_LONGEST_WAIT_SECONDS = 30.0


class ModelEnricher:
    """Asks the model once per document, and again where it was only busy."""

    def __init__(self, model: LanguageModel, name: str) -> None:
        self._model = model
        self.name = name

    async def write(self, instruction: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return the answer.

        Raises:
            EnrichmentFailed: There is none.
        """
        request = ModelRequest(
            model=self.name,
            system=instruction,
            messages=(Message(role="user", text=text),),
            response_schema=schema,
            max_output_tokens=4 * ANSWER_TOKENS,
        )
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with asyncio.timeout(SECONDS):
                    return await whole_answer(self._model, request)
            except TimeoutError as error:
                raise EnrichmentFailed(f"the model did not answer within {SECONDS:g} s") from error
            except ModelError as error:
                if not error.retryable or attempt == _ATTEMPTS:
                    raise EnrichmentFailed(f"the model failed: {error.kind}") from error
                await asyncio.sleep(min(error.retry_after_seconds or 2.0**attempt, _LONGEST_WAIT_SECONDS))
        raise AssertionError("the last attempt returns or raises")
