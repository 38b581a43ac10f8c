"""A made-up model of the real one's shape, and the real one where it is set up."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson
import pytest

from search_proxy.embedding.minilm import MiniLmEmbedder, open_minilm
from search_proxy.embedding.minilm_files import MiniLmFiles
from search_proxy.embedding.published_weights import Array, Weights

_MODELS = Path(__file__).resolve().parents[3] / ".aisle" / "models"
_SIZE, _WIDE, _WORDS, _POSITIONS, _LAYERS = 64, 128, 50, 40, 2


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLmEmbedder]:
    """Return the real model, on two threads."""
    files = MiniLmFiles(_MODELS)
    if not files.are_ready():
        pytest.skip("the embedding model is not set up: python -m search_proxy.embedding.setup")
    with open_minilm(files, threads=2) as embedder:
        yield embedder


@pytest.fixture(scope="session")
def weights() -> Weights:
    """Return random weights of a model with two heads and two layers."""
    chance = np.random.default_rng(3)

    def normal(*shape: int, around: float = 0.0) -> Array:
        made: Array = (around + 0.3 * chance.standard_normal(shape)).astype(np.float32)
        return made

    made = {
        "embeddings.word_embeddings.weight": normal(_WORDS, _SIZE),
        "embeddings.position_embeddings.weight": normal(_POSITIONS, _SIZE),
        "embeddings.token_type_embeddings.weight": normal(2, _SIZE),
    }
    layers = [f"encoder.layer.{number}" for number in range(_LAYERS)]
    norms = ["embeddings.LayerNorm"]
    norms += [
        f"{layer}.{part}" for layer in layers for part in ("attention.output.LayerNorm", "output.LayerNorm")
    ]
    for name in norms:
        made |= {f"{name}.weight": normal(_SIZE, around=1.0), f"{name}.bias": normal(_SIZE)}
    shapes = {f"attention.self.{part}": (_SIZE, _SIZE) for part in ("query", "key", "value")}
    shapes |= {
        "attention.output.dense": (_SIZE, _SIZE),
        "intermediate.dense": (_WIDE, _SIZE),
        "output.dense": (_SIZE, _WIDE),
    }
    for layer in layers:
        for name, shape in shapes.items():
            made |= {f"{layer}.{name}.weight": normal(*shape), f"{layer}.{name}.bias": normal(shape[0])}
    return made


@pytest.fixture(scope="session")
def safetensors(tmp_path_factory: pytest.TempPathFactory, weights: Weights) -> Path:
    """Return a file of the random weights."""
    path = tmp_path_factory.mktemp("weights") / "model.safetensors"
    header, at = {}, 0
    for name, values in weights.items():
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    head = orjson.dumps(header)
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(w.tobytes() for w in weights.values()))
    return path
