"""The text analysis of each language: how a text becomes the terms that are compared.

The same analysis runs over products and queries: words, lower case, accents folded, stemmed, the last three
by tantivy's analyzers. Folding comes before stemming, so that a word typed without its accent has the same
stem as the word in the catalog.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

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

TEXT_END = "\0"
"""Stands behind the words of each text where several are read at once; no word has it."""

_LONGEST_TERM_BYTES = 80
_MAX_REMEMBERED_WORDS = 500_000
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_END = re.compile(rf"[^\W_]+|{TEXT_END}")
_ASCII_WORDS = "".join(chr(at).lower() if chr(at).isalnum() else " " for at in range(128))
_ASCII_WORDS_AND_ENDS = TEXT_END + _ASCII_WORDS[1:]


class TextAnalysis:
    """Turns texts into terms; a word's term is computed once.

    Safe to share between threads: two that meet the same new word both compute the same term.
    """

    def __init__(self, language: str) -> None:
        stemmer = STEMMERS.get(language)
        if stemmer is None:
            raise InvalidSearch(f"language must be one of {', '.join(STEMMERS)}, not {language!r}")
        self._folding = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.remove_long(_LONGEST_TERM_BYTES))
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.ascii_fold())
            .filter(tantivy.Filter.stemmer(stemmer))
            .build()
        )
        self._stopping = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.stopword(stemmer))
            .build()
        )
        self._terms: dict[str, str] = {}

    def words(self, text: str) -> list[str]:
        """Return the words of `text` in lower case, unstemmed."""
        if text.isascii():
            return text.translate(_ASCII_WORDS).split()
        return _WORD.findall(unicodedata.normalize("NFC", text).lower())

    def words_of_each(self, texts: Sequence[str]) -> list[str]:
        """Return the words of all texts, `TEXT_END` behind those of each; no text may have that in it."""
        joined = f" {TEXT_END} ".join([*texts, ""])
        if joined.isascii():
            return joined.translate(_ASCII_WORDS_AND_ENDS).split()
        return _WORD_OR_END.findall(unicodedata.normalize("NFC", joined).lower())

    def terms(self, words: Sequence[str]) -> list[str]:
        """Return the term of each word, as `term` does; the plain ones are found all at once."""
        plain = [word for word in words if word.isascii() and len(word) <= _LONGEST_TERM_BYTES]
        found: list[str] = self._folding.analyze(" ".join(plain))
        known = dict(zip(plain, found, strict=False)) if len(found) == len(plain) else {}
        return [known[word] if word in known else self.term(word) for word in words]

    def term(self, word: str) -> str:
        """Return the term of a word; empty where it is too long to be one."""
        term = self._terms.get(word)
        if term is None:
            term = next(iter(self._folding.analyze(word)), "")
            if len(self._terms) > _MAX_REMEMBERED_WORDS:
                self._terms.clear()
            self._terms[word] = term
        return term

    def analyze(self, text: str) -> list[str]:
        """Return the terms of `text`, in order."""
        return [term for word in self.words(text) if (term := self.term(word))]

    def only_joins(self, word: str) -> bool:
        """Return whether a word only joins others: `for`, `the`, `und`."""
        return not self._stopping.analyze(word)
