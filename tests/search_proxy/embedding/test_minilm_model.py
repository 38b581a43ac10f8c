"""The int8 graph against the plain computation of the same weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from search_proxy.embedding.minilm_model import Weights, build_model, read_safetensors
from search_proxy.embedding.reference import reference_embedding

_TEXTS = [[1], [7, 3, 9], [2, 2, 2, 2], list(range(40))]


def test_the_int8_graph_gives_what_the_weights_say(weights: Weights) -> None:
    """One token to all positions; the range of weights with one bit less does too."""
    for weight_range, least in ((127, 0.998), (63, 0.995)):
        session = onnxruntime.InferenceSession(build_model(weights, weight_range))
        for ids in _TEXTS:
            (vector,) = session.run(None, {"input_ids": np.array(ids, np.int64)})
            assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)
            assert float(vector @ reference_embedding(weights, ids)) > least


def test_the_reference_depends_on_the_order_of_tokens(weights: Weights) -> None:
    """Positions count; a bag of words would be too easy a reference."""
    there, back = (reference_embedding(weights, ids) for ids in ([4, 5, 6], [6, 5, 4]))
    assert float(there @ back) < 0.999


def test_a_missing_tensor_is_named(weights: Weights) -> None:
    """A model of another family is told, not built wrong."""
    name = "encoder.layer.1.attention.self.key.bias"
    with pytest.raises(KeyError, match=name):
        build_model({key: value for key, value in weights.items() if key != name})


def test_weights_are_read_as_they_were_written(safetensors: Path, weights: Weights) -> None:
    """Every name, shape and number."""
    read = read_safetensors(safetensors)
    assert read.keys() == weights.keys()
    assert all(np.array_equal(read[name], values) for name, values in weights.items())


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 64])
def test_what_is_no_safetensors_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """A header longer than the file is never read."""
    path = tmp_path / "weights"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="'weights' is no safetensors file"):
        read_safetensors(path)
