"""Turns what the rules measured into a confidence between 0 and 1.

Calibrated on judged shopper queries of a real catalog: of the rows whose share of the best hits lay in a
band, this part named a category of products that people had graded as relevant (docs/strategies.md).
"""

from __future__ import annotations

_CATEGORY_CURVE = ((0.0, 0.25), (0.1, 0.55), (0.3, 0.77), (0.6, 0.88), (1.0, 0.96))
"""Share of the best hits → part of such rows that were right; straight between the points."""
_UNCOVERED = 0.6
_STEP = 0.001


def category_confidence(share: float, covered: float = 1.0) -> float:
    """Return how likely a category with that share of the best hits is one that the shopper means.

    `covered` is the part of the query that its hits cover: half an answer to a sentence is worth less than
    a whole one, however much the hits agree.
    """
    return round(_on_curve(share) * (_UNCOVERED + (1.0 - _UNCOVERED) * covered), 3)


def split_confidence(category_share: float, share: float, covered: float = 1.0) -> float:
    """Return the confidence of a part of one category: the category's own, less for a smaller part."""
    return round(category_confidence(category_share, covered) * (0.6 + 0.4 * min(1.0, share * 2)), 3)


def descending(confidences: list[float]) -> list[float]:
    """Return the confidences made strictly descending, so that sorting by them keeps the rows' order."""
    ordered: list[float] = []
    for confidence in confidences:
        bound = ordered[-1] - _STEP if ordered else 1.0
        ordered.append(round(max(0.0, min(confidence, bound)), 3))
    return ordered


def _on_curve(share: float) -> float:
    for (left, low), (right, high) in zip(_CATEGORY_CURVE, _CATEGORY_CURVE[1:], strict=False):
        if share <= right:
            return low + (high - low) * (share - left) / (right - left)
    return _CATEGORY_CURVE[-1][1]
