"""Says a query in other words with the model, for the tools' query expansion.

Expansion is a help, never a need: a model that fails or is slow gives none, and the tool uses the catalog's
own terms.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import orjson

from worker.llm.language_model import LanguageModel, Message, ModelError, ModelRequest
from worker.llm.whole_answer import whole_answer

logger = logging.getLogger(__name__)

SECONDS = 3.0
_SYSTEM = (
    "You rewrite search queries. Give other ways to say the same thing, as a product page or a guide would "
    "say it: synonyms, the usual name, a narrower and a wider wording. Add no new wishes, brands or numbers."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"paraphrases": {"type": "array", "items": {"type": "string"}}},
    "required": ["paraphrases"],
}


class ModelParaphraser:
    """Paraphrases by one short structured model call."""

    def __init__(self, model: LanguageModel, name: str) -> None:
        self._model = model
        self._name = name

    async def paraphrases(self, query: str, limit: int) -> Sequence[str]:
        """Return at most `limit` other ways to say `query`; none where the model does not answer."""
        request = ModelRequest(
            model=self._name,
            system=_SYSTEM,
            messages=(Message(role="user", text=f"At most {limit} paraphrases of: {query}"),),
            response_schema=_SCHEMA,
            max_output_tokens=300,
        )
        try:
            async with asyncio.timeout(SECONDS):
                text = await whole_answer(self._model, request)
            answer = orjson.loads(text)
        except (ModelError, TimeoutError, orjson.JSONDecodeError) as error:
            logger.warning("query_not_paraphrased", extra={"error": str(error)})
            return ()
        found = answer.get("paraphrases") if isinstance(answer, dict) else None
        texts = found if isinstance(found, list) else []
        return [one[:200] for one in texts if isinstance(one, str)][:limit]
