"""Runs a MiniLM model as it was published, in float32 and plain numpy: slow, and nothing left out.

The int8 model takes the ranges of its activations from it and is held to it, at set-up and in tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from search_proxy.embedding.published_weights import EPSILON, HEAD_SIZE, Array, Weights

_ERROR_SERIES = (0.0, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)

Watch = Callable[[str, Array], None]
"""Told what goes into every matrix, by the matrix's name; query, key and value count as one."""


def _look_away(_name: str, _values: Array) -> None:
    return


def reference_embedding(weights: Weights, input_ids: Sequence[int], watch: Watch = _look_away) -> Array:
    """Return the vector of length 1 of one text, given as its token ids."""
    hidden = (
        weights["embeddings.word_embeddings.weight"][np.asarray(input_ids)]
        + weights["embeddings.position_embeddings.weight"][: len(input_ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _normalised(weights, "embeddings.LayerNorm", hidden)
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in weights:
        hidden = _layer(weights, f"encoder.layer.{layer}", hidden, watch)
        layer += 1
    mean: Array = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _layer(weights: Weights, name: str, hidden: Array, watch: Watch) -> Array:
    tokens, size = hidden.shape
    watch(f"{name}.attention.self", hidden)
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
    watch(f"{name}.attention.output.dense", mixed)
    attended = _dense(weights, f"{name}.attention.output.dense", mixed) + hidden
    hidden = _normalised(weights, f"{name}.attention.output.LayerNorm", attended)
    watch(f"{name}.intermediate.dense", hidden)
    wide = _dense(weights, f"{name}.intermediate.dense", hidden)
    wide = wide * 0.5 * (1 + _error_function(wide / math.sqrt(2)))
    watch(f"{name}.output.dense", wide)
    narrow = _dense(weights, f"{name}.output.dense", wide)
    return _normalised(weights, f"{name}.output.LayerNorm", narrow + hidden)


def _dense(weights: Weights, name: str, hidden: Array) -> Array:
    return hidden @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalised(weights: Weights, name: str, hidden: Array) -> Array:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _error_function(values: Array) -> Array:
    """Return it within 2e-7, what float32 can tell apart. Source: Abramowitz and Stegun, 7.1.26."""
    inverse = 1 / (1 + 0.3275911 * np.abs(values, dtype=np.float64))
    series = np.polynomial.polynomial.polyval(inverse, _ERROR_SERIES)
    error: Array = np.copysign(1 - series * np.exp(-(values.astype(np.float64) ** 2)), values).astype(
        np.float32
    )
    return error
