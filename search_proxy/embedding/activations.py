"""Measures what goes into a model's matrices, and says how it becomes 8 bits.

Ranges are fixed at set-up instead of measured in every run: then a text's vector does not depend on what is
computed beside it. A few channels are ten times as wide as the rest; a matrix whose input may be scaled takes
them over into its weights ("SmoothQuant", arXiv 2211.10438), or the rest would keep four bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from search_proxy.embedding.published_weights import Array, Weights
from search_proxy.embedding.reference import reference_embedding

LEVELS = 255
SMOOTHING = 0.7
"""How much of a wide channel goes into the weights; .7 came nearer to the published model than .5."""

_LEAST = 1e-3
"""Stands for channels and ranges that were always 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationRange:
    """The least and the greatest value of every channel of one input."""

    low: Array
    high: Array

    def smoothing(self, rows: Array) -> Array:
        """Return by what to divide every channel before it meets the matrix of `rows`."""
        widest = np.maximum(np.maximum(-self.low, self.high), _LEAST)
        heaviest = np.maximum(np.abs(rows).max(axis=0), _LEAST)
        factors: Array = widest**SMOOTHING / heaviest ** (1 - SMOOTHING)
        return factors / np.median(factors)

    def scale_and_zero_point(self, smoothing: Array | float = 1.0) -> tuple[np.float32, np.uint8]:
        """Return how its values, divided by `smoothing`, lie in 0 to 255."""
        low = min(float((self.low / smoothing).min()), 0.0)
        high = max(float((self.high / smoothing).max()), low + _LEAST, 0.0)
        scale = (high - low) / LEVELS
        return np.float32(scale), np.uint8(round(-low / scale))


Activations = Mapping[str, ActivationRange]
"""By the name of the matrix that they go into."""


def measured_activations(weights: Weights, texts: Sequence[Sequence[int]]) -> Activations:
    """Return what the inputs of all matrices hold while the published model reads `texts`, token ids each."""
    found: dict[str, ActivationRange] = {}

    def watch(name: str, values: Array) -> None:
        low, high = values.min(axis=0), values.max(axis=0)
        if (seen := found.get(name)) is not None:
            low, high = np.minimum(low, seen.low), np.maximum(high, seen.high)
        found[name] = ActivationRange(low=low, high=high)

    for input_ids in texts:
        reference_embedding(weights, input_ids, watch)
    return found
