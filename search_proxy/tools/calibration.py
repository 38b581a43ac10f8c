"""The similarity below which a match is noise, for every model that it was measured for.

A vector search returns something however bad it is; a cutoff makes "close matches or nothing" true, and the
right one differs by model. Source: `python -m bench.min_score`, docs/tools.md.
"""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_MIN_SCORE = 0.6
"""For models that were not measured. Source: the usual cutoff of `search.v1`."""

MEASURED: Mapping[str, float] = {}
"""By the name that is kept with an index's vectors."""


def default_min_score(model: str | None) -> float:
    """Return the cutoff for vectors of `model`."""
    return next((score for name, score in MEASURED.items() if model and name in model), DEFAULT_MIN_SCORE)


def is_measured(model: str | None) -> bool:
    """Return whether the cutoff was measured for `model`."""
    return model is not None and any(name in model for name in MEASURED)
