"""Runs a MiniLM model as it was published, in float32 and plain numpy: slow, and nothing left out.

The int8 model is held to it, at set-up and in tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from search_proxy.embedding.minilm_model import EPSILON, HEAD_SIZE, Array, Weights

_error_function = np.vectorize(math.erf, otypes=[np.float32])


def reference_embedding(weights: Weights, input_ids: Sequence[int]) -> Array:
    """Return the vector of length 1 of one text, given as its token ids."""
    hidden = (
        weights["embeddings.word_embeddings.weight"][np.asarray(input_ids)]
        + weights["embeddings.position_embeddings.weight"][: len(input_ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _normalised(weights, "embeddings.LayerNorm", hidden)
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        hidden = _layer(weights, f"encoder.layer.{layer}", hidden)
        layer += 1
    mean: Array = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _layer(weights: Weights, name: str, hidden: Array) -> Array:
    tokens, size = hidden.shape
    query, key, value = (
        _dense(weights, f"{name}.attention.self.{part}", hidden)
        .reshape(tokens, size // HEAD_SIZE, HEAD_SIZE)
        .transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(HEAD_SIZE)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed = (shares @ value).transpose(1, 0, 2).reshape(tokens, size)
    attended = _dense(weights, f"{name}.attention.output.dense", mixed) + hidden
    hidden = _normalised(weights, f"{name}.attention.output.LayerNorm", attended)
    wide = _dense(weights, f"{name}.intermediate.dense", hidden)
    wide = wide * 0.5 * (1 + _error_function(wide / math.sqrt(2)))
    narrow = _dense(weights, f"{name}.output.dense", wide)
    return _normalised(weights, f"{name}.output.LayerNorm", narrow + hidden)


def _dense(weights: Weights, name: str, hidden: Array) -> Array:
    return hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalised(weights: Weights, name: str, hidden: Array) -> Array:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]
