"""Numbers as the filter language writes them: whole numbers stay whole, everything else is a float."""

from __future__ import annotations

import math

MAX_NUMBER_LENGTH = 400
"""Characters of a number: every finite float fits, and parsing stays cheap."""


def parse_number(text: str) -> int | float | None:
    """Return the number that `text` writes, or None where it writes none; NaN is none.

    Exponents and infinities are floats: `1e3` is 1000.0, `-inf` is below everything.
    """
    if len(text) > MAX_NUMBER_LENGTH:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number
