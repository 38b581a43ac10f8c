"""Embeds with MiniLM in this process: tokenizers, then onnxruntime, texts of one length per run.

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

TOKENS_PER_RUN = 256
"""What a run takes at once, or one text; with twice as many, layers no longer fit a core's cache."""

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
        # It raises its own kinds of errors, without a common parent.
        except Exception as error:
            raise SearchUnavailable(
                f"the model in {str(graph.parent)!r} cannot be loaded: {error}"
            ) from error
        self._tokens = Tokens(tokenizer)
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one row per text, computed on the embedder's own threads."""
        ids = list(self._threads.map(self.token_ids, texts))
        runs = runs_of_one_length([len(each) for each in ids])
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        found = self._threads.map(lambda run: self._run([ids[at] for at in run]), runs)
        for run, rows in zip(runs, found, strict=True):
            vectors[run] = rows
        return vectors

    def embed_query(self, query: str) -> Array:
        """Return the vector of one text, computed on the calling thread."""
        vector: Array = self._run([self.token_ids(query)])[0]
        return vector

    def token_ids(self, text: str) -> list[int]:
        """Return the tokens that the model reads of `text`."""
        return self._tokens.ids(text)

    def _run(self, ids: Sequence[Sequence[int]]) -> Array:
        (vectors,) = self._session.run(None, {"input_ids": np.array(ids, np.int64)})
        embedded: Array = vectors
        return embedded


class Tokens:
    """The model's tokenizer, loaded."""

    def __init__(self, path: Path) -> None:
        """Load it.

        Raises:
            SearchUnavailable: The file is there but is no tokenizer.
        """
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        # The library raises bare `Exception`s.
        except Exception as error:
            raise SearchUnavailable(f"the tokenizer {str(path)!r} cannot be loaded: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def ids(self, text: str) -> list[int]:
        """Return the tokens that the model reads of `text`."""
        # Half an emoji cannot be encoded; the tokenizer would refuse the whole text.
        readable = text[:MAX_CHARACTERS].encode(errors="replace").decode()
        # A batch of one: unlike `encode`, it leaves the interpreter to others meanwhile.
        (encoding,) = self._tokenizer.encode_batch_fast([readable])
        ids: list[int] = encoding.ids
        return ids


def runs_of_one_length(lengths: Sequence[int]) -> list[list[int]]:
    """Return the positions of texts that are embedded together, the longest first.

    A run has texts of one length and at most `TOKENS_PER_RUN` tokens, or one text.
    """
    of_length: dict[int, list[int]] = {}
    for at, length in enumerate(lengths):
        of_length.setdefault(length, []).append(at)
    runs = []
    for length in sorted(of_length, reverse=True):
        together = max(1, TOKENS_PER_RUN // length)
        found = of_length[length]
        runs += [found[start : start + together] for start in range(0, len(found), together)]
    return runs


@contextmanager
def open_minilm(files: MiniLmFiles, threads: int = 2) -> Iterator[MiniLmEmbedder]:
    """Load the model with its own threads for products.

    Raises:
        SearchUnavailable: The files are there but cannot be loaded.
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
        yield MiniLmEmbedder(files.graph, files.tokenizer, pool)
