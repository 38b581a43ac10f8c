"""Counts the words of a query, in any script.

Words as Unicode text segmentation has them: runs of letters and digits, joined by an apostrophe or a full
stop between letters and by a comma or a full stop between digits; a hyphen separates. Scripts that are
written without spaces count one word for every two characters, about what a word is there.

Source: Unicode Standard Annex 29, word boundaries.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:(?<=[^\W\d])['’.:](?=[^\W\d])\w+|(?<=\d)[.,](?=\d)\w+)*")
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)


def count_words(text: str) -> int:
    """Return how many words a person would count in `text`."""
    plain = unicodedata.normalize("NFKC", text)
    unspaced = sum((len(run) + 1) // 2 for run in _UNSPACED.findall(plain))
    return unspaced + len(_WORD.findall(_UNSPACED.sub(" ", plain)))
