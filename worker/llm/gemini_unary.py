"""Gemini's calls that answer at once: token counts and embeddings, through google-genai.

They share the SDK's client, and with it its connections and credentials; nothing here is on the path of a
streamed answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from google import genai
from google.genai import types

from worker.llm.language_model import ModelError
from worker.llm.sdk_errors import sdk_error

MAX_TEXTS = 100
"""Texts of one embedding call. Source: Gemini API, batchEmbedContents."""


class GeminiUnary:
    """Counts tokens and embeds texts; every call has one deadline."""

    def __init__(self, client: genai.Client, *, timeout_seconds: float = 10.0) -> None:
        self._client = client
        self._timeout_seconds = timeout_seconds

    async def count_tokens(self, model: str, text: str) -> int:
        """Return how many tokens the model reads in `text`.

        Raises:
            ModelError: The call failed.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                counted = await self._client.aio.models.count_tokens(model=model, contents=text)
        except Exception as error:
            raise sdk_error(error) from error
        return counted.total_tokens or 0

    async def embed(
        self, model: str, texts: Sequence[str], *, task: str | None = None, dimensions: int | None = None
    ) -> list[list[float]]:
        """Return one vector per text, in order; `task` is a task type such as `RETRIEVAL_QUERY`.

        Raises:
            ModelError: The call failed, or it answered with another number of vectors.
        """
        vectors: list[list[float]] = []
        config = types.EmbedContentConfig(task_type=task, output_dimensionality=dimensions)
        for start in range(0, len(texts), MAX_TEXTS):
            batch = [
                types.Content(parts=[types.Part(text=text)]) for text in texts[start : start + MAX_TEXTS]
            ]
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    answer = await self._client.aio.models.embed_content(
                        model=model, contents=batch, config=config
                    )
            except Exception as error:
                raise sdk_error(error) from error
            vectors += [list(each.values or ()) for each in answer.embeddings or ()]
        if len(vectors) != len(texts):
            raise ModelError("protocol", f"{len(texts)} texts were answered with {len(vectors)} vectors")
        return vectors
