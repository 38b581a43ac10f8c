"""Reading the published weights: nothing lost, and nothing read that is no such file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search_proxy.embedding.published_weights import Weights, read_safetensors


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
