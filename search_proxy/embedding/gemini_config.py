"""What Gemini's embeddings are set up with; apart from the embedder, so that settings name it at no cost."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiEmbeddingConfig:
    """Where the model is, and what it is asked for."""

    api_key: str = field(repr=False)
    base_url: str = "https://generativelanguage.googleapis.com"
    api_version: str = "v1beta"
    model: str = "gemini-embedding-001"
    dimension: int = 768
    query_seconds: float = 1.0
    """A search waits for it, on one of few threads."""
    batch_seconds: float = 20.0
