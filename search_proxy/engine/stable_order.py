"""The order of whole numbers, equal ones as they stand."""

from __future__ import annotations

import numpy as np

from search_proxy.engine.columns import Array

_DIGIT_BITS = 16
_MOST_DIGITS = 2


def stable_order(keys: Array) -> Array:
    """Return the positions that sort `keys`, which are 0 or more, equal ones as they stand.

    Numbers of 16 bits are counted instead of compared, so two rounds of those are far quicker than one of
    comparing; sorting larger ones with their positions in the lowest bits is, too, than sorting positions.
    """
    highest = int(keys.max()) if len(keys) else 0
    if highest < 1 << (_MOST_DIGITS * _DIGIT_BITS):
        digits = keys.astype(np.uint32, copy=False)
        order = np.argsort(digits.astype(np.uint16), kind="stable")
        if highest >> _DIGIT_BITS:
            rest = (digits >> np.uint32(_DIGIT_BITS)).astype(np.uint16)
            order = order[np.argsort(rest[order], kind="stable")]
        return order
    bits = len(keys).bit_length()
    if highest >> (64 - bits):
        return np.argsort(keys, kind="stable")
    marked = keys.astype(np.uint64)
    marked <<= np.uint64(bits)
    marked |= np.arange(len(keys), dtype=np.uint64)
    marked.sort()
    marked &= np.uint64((1 << bits) - 1)
    return marked.view(np.int64)
