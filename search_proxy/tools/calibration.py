"""The similarity below which a match is noise, for every model that it was measured for.

A vector search returns something however bad it is; a cutoff makes "close matches or nothing" true, and the
right one differs by model. Source: `python -m bench.min_score`, docs/tools.md.
"""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_MIN_SCORE = 0.6
"""For models that were not measured. Source: the usual cutoff of `search.v1`."""

MEASURED: Mapping[str, float] = {"all-minilm-l6-v2": 0.44}
"""By the beginning of the name that is kept with an index's vectors."""


def default_min_score(model: str | None) -> float:
    """Return the cutoff for vectors of `model`."""
    measured = (score for name, score in MEASURED.items() if model and model.startswith(name))
    return next(measured, DEFAULT_MIN_SCORE)
