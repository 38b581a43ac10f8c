"""The text analysis of each language: how a text becomes the terms that are compared.

The same analysis runs over documents and queries: lower case, accents folded, stemmed. Folding comes first,
so that a word typed without its accent has the same stem as the word in the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping

import tantivy

from search_proxy.errors import InvalidSearch

DEFAULT_LANGUAGE = "en"

STEMMERS: Mapping[str, str] = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
}
"""Languages by ISO 639-1 code and the Snowball stemmer of each."""

_LONGEST_TERM_BYTES = 80


def stop_words(language: str) -> tantivy.TextAnalyzer:
    """Return an analysis that leaves nothing of a word that only joins others: `for`, `the`, `und`."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword(STEMMERS[language]))
        .build()
    )


def analyzer(language: str) -> tantivy.TextAnalyzer:
    """Return the analysis of `language`.

    Raises:
        InvalidSearch: There is no stemmer for the language.
    """
    stemmer = STEMMERS.get(language)
    if stemmer is None:
        raise InvalidSearch(f"language must be one of {', '.join(STEMMERS)}, not {language!r}")
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_LONGEST_TERM_BYTES))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer(stemmer))
        .build()
    )
