"""The int8 graph against the plain computation of the same weights."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from search_proxy.embedding.activations import measured_activations
from search_proxy.embedding.minilm_model import build_model
from search_proxy.embedding.published_weights import Array, Weights
from search_proxy.embedding.reference import reference_embedding

_TEXTS = [[1], [7, 3, 9], [2, 2, 2, 2], list(range(40))]


def _opened(weights: Weights, weight_range: int = 127) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        build_model(weights, measured_activations(weights, _TEXTS), weight_range)
    )


def _run(session: onnxruntime.InferenceSession, texts: list[list[int]]) -> Array:
    (vectors,) = session.run(None, {"input_ids": np.array(texts, np.int64)})
    found: Array = vectors
    return found


def test_the_int8_graph_gives_what_the_weights_say(weights: Weights) -> None:
    """One token to all positions; the range of weights with one bit less does too."""
    for weight_range, least in ((127, 0.998), (63, 0.995)):
        session = _opened(weights, weight_range)
        for ids in _TEXTS:
            (vector,) = _run(session, [ids])
            assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
            assert float(vector @ reference_embedding(weights, ids)) > least


def test_texts_of_one_run_do_not_see_each_other(weights: Weights) -> None:
    """Together as alone, bit for bit."""
    session = _opened(weights)
    for length in (1, 3, 17, 40):
        texts = np.random.default_rng(length).integers(0, 50, (5, length)).tolist()
        together = _run(session, texts)
        assert np.array_equal(together, np.concatenate([_run(session, [text]) for text in texts]))


def test_a_channel_much_wider_than_the_rest_does_not_blur_them(weights: Weights) -> None:
    """As the published model has one; without smoothing its neighbours would keep a few levels."""
    name = "encoder.layer.0.attention.output.LayerNorm"
    wide = dict(weights)
    for part in ("weight", "bias"):
        wide[f"{name}.{part}"] = weights[f"{name}.{part}"].copy()
        wide[f"{name}.{part}"][5] *= 40
    matrix = weights["encoder.layer.0.intermediate.dense.weight"].copy()
    matrix[:, 5] /= 40
    wide["encoder.layer.0.intermediate.dense.weight"] = matrix
    session = _opened(wide)
    for ids in _TEXTS:
        assert float(_run(session, [ids])[0] @ reference_embedding(wide, ids)) > 0.9985


def test_the_reference_depends_on_the_order_of_tokens(weights: Weights) -> None:
    """Positions count; a bag of words would be too easy a reference."""
    there, back = (reference_embedding(weights, ids) for ids in ([4, 5, 6], [6, 5, 4]))
    assert float(there @ back) < 0.999


def test_a_missing_tensor_is_named(weights: Weights) -> None:
    """A model of another family is told, not built wrong."""
    name = "encoder.layer.1.attention.self.key.bias"
    activations = measured_activations(weights, _TEXTS)
    with pytest.raises(KeyError, match=name):
        build_model({key: value for key, value in weights.items() if key != name}, activations)
