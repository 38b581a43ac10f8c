"""Tells the language of a catalog by the words that join others: `und`, `pour`, `los`.

Every language has its own list of them (`languages.py`). The answer is English unless another language's
words are both common and clearly more common than English ones: product data is full of English names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from search_proxy.engine.languages import DEFAULT_LANGUAGE, STEMMERS, TextAnalysis

SAMPLE = 500
"""Documents that are looked at; those of a feed's beginning."""

MIN_WORDS = 20
MIN_SHARE = 0.05
MIN_LEAD = 1.5
"""Joining words that make a language, as a number, as a share of all words, and over English ones."""

_FIELDS = ("productTitle", "variantTitle", "description")
_LONGEST_TEXT = 2_000
_MOST_WORDS = 5_000


def detected_language(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return the language code of the first documents' titles and descriptions."""
    analysis = TextAnalysis(DEFAULT_LANGUAGE)
    counts: Counter[str] = Counter()
    for document in islice(documents, SAMPLE):
        for name in _FIELDS:
            text = document.get(name)
            if isinstance(text, str):
                counts.update(analysis.words(text[:_LONGEST_TEXT]))
    common = dict(counts.most_common(_MOST_WORDS))
    found = {language: _joining(common, language) for language in STEMMERS}
    best = max(found, key=lambda language: found[language])
    enough = found[best] >= max(MIN_WORDS, MIN_SHARE * counts.total())
    return best if enough and found[best] >= MIN_LEAD * found[DEFAULT_LANGUAGE] else DEFAULT_LANGUAGE


def _joining(counts: Mapping[str, int], language: str) -> int:
    analysis = TextAnalysis(language)
    return sum(count for word, count in counts.items() if analysis.only_joins(word))
