"""Embeds with MiniLM in this process: tokenizers, then onnxruntime, one text per run.

Products are embedded on a few threads of their own, a query on the thread that asks. They have no lower
priority: on a full machine, one that sleeps with the interpreter's lock would keep the event loop waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from search_proxy.embedding.minilm_files import DIMENSION, MODEL, MiniLmFiles
from search_proxy.errors import SearchUnavailable

MAX_TOKENS = 128
"""What was measured to be enough of a product; the model was trained with as many."""

MAX_CHARACTERS = 2_000
"""Enough for the tokens of any language; what is longer need not be looked at."""

_QUIET = 3

Array = npt.NDArray[np.float32]


class MiniLmEmbedder:
    """The model, loaded. The same text always has the same vector, whatever stands beside it."""

    model = MODEL
    dimension = DIMENSION

    def __init__(self, graph: Path, tokenizer: Path, threads: ThreadPoolExecutor) -> None:
        """Load the model.

        Raises:
            SearchUnavailable: The files are there but cannot be loaded.
        """
        options = onnxruntime.SessionOptions()
        # A run has one thread; several texts run at once. That scales better than several threads in one.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        try:
            self._session = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        # Both libraries raise bare `Exception`s and their own kinds without a common parent.
        except Exception as error:
            raise SearchUnavailable(
                f"the model in {str(graph.parent)!r} cannot be loaded: {error}"
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one row per text, computed on the embedder's own threads."""
        if not texts:
            return np.empty((0, DIMENSION), np.float32)
        return np.stack(list(self._threads.map(self.embed_query, texts)))

    def embed_query(self, query: str) -> Array:
        """Return the vector of one text, computed on the calling thread."""
        (vector,) = self._session.run(None, {"input_ids": np.array(self.token_ids(query), np.int64)})
        embedded: Array = vector
        return embedded

    def token_ids(self, text: str) -> list[int]:
        """Return the tokens that the model reads of `text`."""
        ids: list[int] = self._tokenizer.encode(text[:MAX_CHARACTERS]).ids
        return ids


@contextmanager
def open_minilm(files: MiniLmFiles, threads: int = 2) -> Iterator[MiniLmEmbedder]:
    """Load the model with its own threads for products.

    Raises:
        SearchUnavailable: The files are there but cannot be loaded.
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
        yield MiniLmEmbedder(files.graph, files.tokenizer, pool)
