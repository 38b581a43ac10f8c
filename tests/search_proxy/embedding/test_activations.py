"""What goes into the matrices: measured over all texts, and laid into 0 to 255."""

from __future__ import annotations

import numpy as np
import pytest

from search_proxy.embedding.activations import LEVELS, ActivationRange, measured_activations
from search_proxy.embedding.published_weights import Array, Weights


def _range(low: list[float], high: list[float]) -> ActivationRange:
    return ActivationRange(low=np.array(low, np.float32), high=np.array(high, np.float32))


def test_every_matrix_has_a_range_that_holds_all_texts(weights: Weights) -> None:
    """Four inputs a layer; a further text can only widen them."""
    few, more = (measured_activations(weights, texts) for texts in ([[1, 2]], [[1, 2], [30, 31, 32]]))
    parts = ("attention.self", "attention.output.dense", "intermediate.dense", "output.dense")
    assert set(more) == {f"encoder.layer.{layer}.{part}" for layer in range(2) for part in parts}
    for name, seen in more.items():
        assert (seen.low <= few[name].low).all()
        assert (seen.high >= few[name].high).all()
        assert (seen.low < few[name].low).any()


@pytest.mark.parametrize(
    ("low", "high"), [([-1.0, -3.0], [2.0, 0.5]), ([1.0, 2.0], [3.0, 4.0]), ([-4.0, -3.0], [-2.0, -1.0])]
)
def test_the_ends_of_a_range_and_zero_have_a_level(low: list[float], high: list[float]) -> None:
    """Zero exactly, the ends within half a level."""
    scale, zero = _range(low, high).scale_and_zero_point()
    for value in (min(*low, 0.0), 0.0, max(*high, 0.0)):
        level = value / scale + int(zero)
        assert -0.5 <= level <= LEVELS + 0.5
        assert 0 <= round(level) <= LEVELS


def test_a_channel_that_is_always_zero_has_a_scale() -> None:
    """No division by nothing."""
    nothing = _range([0.0, 0.0], [0.0, 0.0])
    rows: Array = np.zeros((3, 2), np.float32)
    assert np.isfinite(nothing.smoothing(rows)).all()
    assert nothing.scale_and_zero_point(nothing.smoothing(rows))[0] > 0


def test_smoothing_takes_wide_channels_back_most() -> None:
    """Then the others keep more levels; the typical channel stays as it is."""
    seen = _range([-1.0, -1.0, -40.0], [1.0, 1.0, 40.0])
    smoothing = seen.smoothing(np.ones((4, 3), np.float32))
    assert smoothing[:2].tolist() == [1.0, 1.0]
    assert smoothing[2] > 10
    assert seen.scale_and_zero_point(smoothing)[0] < seen.scale_and_zero_point()[0] / 5
