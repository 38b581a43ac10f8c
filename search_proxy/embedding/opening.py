"""Opens the embedder that the settings ask for, and says in words what became of it.

What an embedder needs, an ONNX runtime or an HTTP client, is loaded with the embedder: 30 MB that a search
without one does not pay.
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from search_proxy.embedding.gemini_config import GeminiEmbeddingConfig
from search_proxy.embedding.minilm_files import MiniLmFiles
from search_proxy.engine.embedder import Embedder
from search_proxy.errors import SearchUnavailable

EmbedderKind = Literal["auto", "minilm", "gemini", "none"]

SETUP_COMMAND = "python -m search_proxy.embedding.setup"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig:
    """Which embedder; `auto` is MiniLM where it is set up, and otherwise none.

    Gemini is never taken unasked: it costs money and sends the catalog away.
    """

    models: Path
    kind: EmbedderKind = "auto"
    threads: int = 2
    """What embeds products at once; a server keeps a core for its searches."""
    gemini: GeminiEmbeddingConfig | None = field(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedEmbedder:
    """An embedder, or the reason why there is none."""

    embedder: Embedder | None
    reason: str | None = None
    stop: Callable[[], None] = lambda: None
    """Makes a long `embed` end soon; called from the event loop when embedding behind searches ends."""

    def describe(self) -> Mapping[str, Any]:
        """Return the facts for readiness: the lanes that a search can have, the model, or what is missing."""
        if self.embedder is None:
            return {"lanes": ["text"], "embeddingModel": None, "reason": self.reason}
        return {
            "lanes": ["text", "vector"],
            "embeddingModel": self.embedder.model,
            "embeddingDimension": self.embedder.dimension,
        }


@contextmanager
def open_embedder(config: EmbeddingConfig) -> Iterator[OpenedEmbedder]:
    """Open what `config` asks for; what was asked for by name must be there.

    Raises:
        SearchUnavailable: An embedder that was asked for by name cannot be opened; the message says why.
    """
    files = MiniLmFiles(config.models)
    if config.kind == "none":
        yield OpenedEmbedder(embedder=None, reason="no embedder is asked for")
    elif config.kind == "gemini":
        if config.gemini is None:
            raise SearchUnavailable("the embedder 'gemini' needs a Gemini API key")
        module = importlib.import_module("search_proxy.embedding.gemini_embedder")
        with module.open_gemini_embedder(config.gemini) as gemini:
            yield OpenedEmbedder(embedder=gemini, stop=gemini.stop)
    elif files.are_ready():
        module = importlib.import_module("search_proxy.embedding.minilm")
        with module.open_minilm(files, config.threads) as minilm:
            yield OpenedEmbedder(embedder=minilm)
    else:
        command = f"{SETUP_COMMAND} --models-dir {shlex.quote(str(config.models))}"
        missing = f"no embedding model in {str(files.folder)!r}; `{command}` makes it"
        if files.are_of_another_format():
            found = f"the embedding model in {str(files.folder)!r} is of another version"
            missing = f"{found}; `{command}` renews it"
        if config.kind == "minilm":
            raise SearchUnavailable(missing)
        yield OpenedEmbedder(embedder=None, reason=missing)
