"""Who may see which row, as the columns of the reserved name `_visibleTo`.

Made once per generation from what the documents' `visibleTo` says, in the meaning of `filters.visibility`:
a row that says nothing has the value "", and one that cannot be read has none, so that no filter passes it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from search_proxy.engine.columns import Array, FieldColumns, dictionary
from search_proxy.filters.visibility import UNSTATED

_UNREADABLE = ("integer_rows", "float_rows", "boolean_rows")


def visible_columns(own: FieldColumns, below: Iterable[FieldColumns], size: int) -> FieldColumns:
    """Return the columns of `_visibleTo` over `size` rows.

    `own` are the columns of `visibleTo`, `below` those of the fields that a map in its place would have.
    """
    says_something = np.zeros(size, bool)
    is_readable = np.ones(size, bool)
    for name in ("text_rows", "list_rows", *_UNREADABLE):
        says_something[own[name]] = True
    for name in _UNREADABLE:
        is_readable[own[name]] = False
    texts = own.texts()
    if UNSTATED in texts:
        is_readable[own["text_rows"][own["text_codes"] == texts.index(UNSTATED)]] = False
    for part in below:
        says_something[part.rows()] = True
        is_readable[part.rows()] = False
    kept = is_readable[own["text_rows"]]
    silent = np.flatnonzero(~says_something & is_readable).astype("<u4")
    rows = np.concatenate([own["text_rows"][kept], silent])
    codes = np.concatenate([own["text_codes"][kept] + np.uint32(1), np.zeros(len(silent), "<u4")])
    order: Array = np.argsort(rows, kind="stable")
    return FieldColumns(
        {"text_rows": rows[order], "text_codes": codes[order].astype("<u4"), **dictionary([UNSTATED, *texts])}
    )
