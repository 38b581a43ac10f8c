"""Reads what a shopper typed as a list of concepts: each a term and what may stand for it.

Words that only join others do not count. A size has one form however it is written; a model number may be
joined or split; synonyms are the shop's own. Only a word that the index does not have is completed or
repaired, from the index's own terms, so what is found literally is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from search_proxy.engine.forms import measures, mixed_parts
from search_proxy.engine.synonyms import Terms
from search_proxy.engine.text_index import TextIndex
from search_proxy.engine.vocabulary import Vocabulary

_QUOTED = re.compile(r'(?<!\S)"((?:[^"\\]|\\.)+)"(?!\S)')

MAX_TERMS = 64
"""A query of 10,000 characters is somebody's page; its first words say what it wants."""

SYNONYM_WEIGHT = 0.8
PARTS_WEIGHT = 0.8
NUMBER_ALONE_WEIGHT = 0.5
COMPLETED_WEIGHT = 0.8
REPAIRED_WEIGHTS: Mapping[int, float] = {1: 0.8, 2: 0.5}
JOINED_WEIGHT = 0.5
MAX_CANDIDATES = 3
MAX_PHRASES = 8


@dataclass(frozen=True, slots=True)
class Alternative:
    """Terms that together stand for a concept, all of them needed; `weight` is at most 1."""

    terms: Terms
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Concept:
    """What one stretch of the query asks for; the best of its alternatives counts."""

    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryReading:
    """A query as it is searched: its concepts, its literal terms, and what stands in for unknown ones.

    `phrases` stood in quotes: a product must have each, word by word, in one of its text fields.
    """

    concepts: tuple[Concept, ...]
    literal: Terms
    phrases: tuple[Terms, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()


def read_query(
    index: TextIndex, text: str, synonyms: Mapping[Terms, tuple[Terms, ...]] = MappingProxyType({})
) -> QueryReading:
    """Return the concepts of `text`, and what of it stands in quotes; half a pair of quotes is a blank."""
    text = text[: MAX_TERMS * 100]
    quoted = [tuple(index.analysis.analyze(part)) for part in _QUOTED.findall(text)]
    phrases = tuple(phrase for phrase in quoted[:MAX_PHRASES] if phrase)
    text = _QUOTED.sub(r" \1 ", text)
    concepts: list[Concept] = []
    rest: list[str] = []
    at = 0
    for form, start, end in measures(text):
        if any(index.frequency(term) for term in index.analysis.analyze(form)):
            rest.append(text[at:start])
            concepts.append(_measure(index, form, text[start:end]))
            at = end
    written = index.analysis.words(" ".join([*rest, text[at:]]))[:MAX_TERMS]
    words = [word for word in written if not index.analysis.only_joins(word)] or written
    word_of = {term: word for word in words if (term := index.analysis.term(word))}
    unfinished = words[-1] if words and text[-1:].isalnum() else None
    replaced: list[tuple[str, str]] = []
    for term, word in word_of.items():
        concept, instead = _concept(index, term, word, is_last=word == unfinished)
        concepts.append(concept)
        if instead is not None:
            replaced.append((term, instead))
    concepts.extend(_joined(index, written))
    literal = tuple(word_of)
    concepts = _with_synonyms(concepts, literal, synonyms)
    return QueryReading(concepts=tuple(concepts), literal=literal, phrases=phrases, replaced=tuple(replaced))


def _measure(index: TextIndex, form: str, written: str) -> Concept:
    (joined,) = index.analysis.analyze(form)[:1]
    number = tuple(index.analysis.analyze(written))[:1]
    return Concept((Alternative((joined,)), Alternative(number, NUMBER_ALONE_WEIGHT)))


def _concept(index: TextIndex, term: str, word: str, *, is_last: bool) -> tuple[Concept, str | None]:
    literal = Alternative((term,))
    if index.frequency(term):
        return Concept((literal,)), None
    if len(parts := mixed_parts(term)) > 1:
        found = [Alternative(tuple(parts), PARTS_WEIGHT)] if all(map(index.frequency, parts)) else []
    else:
        found = _from_vocabulary(index, term, word, index.vocabulary, is_last=is_last)
    return Concept((literal, *found)), " ".join(found[0].terms) if found else None


def _from_vocabulary(
    index: TextIndex, term: str, word: str, known: Vocabulary, *, is_last: bool
) -> list[Alternative]:
    """Return what an unknown word may be: unfinished, two words written as one, or mistyped."""
    completed = known.starting_with(term, MAX_CANDIDATES) if is_last and len(term) > 1 else []
    if completed:
        return [Alternative((candidate,), COMPLETED_WEIGHT) for candidate in completed]
    # A mistyped word may have the stem of another: `wireles` means `wireless`, not `wire`.
    near = dict(known.nearest(word, MAX_CANDIDATES)) if word != term else {}
    if 1 not in near.values():
        near |= {one: distance for one, distance in known.nearest(term, MAX_CANDIDATES) if one not in near}
    best = sorted(near.items(), key=lambda one: one[1])[:MAX_CANDIDATES]
    repaired = [Alternative((candidate,), REPAIRED_WEIGHTS[distance]) for candidate, distance in best]
    return repaired or _split(index, word, known)


def _split(index: TextIndex, word: str, known: Vocabulary) -> list[Alternative]:
    cuts = (index.analysis.analyze(f"{word[:at]} {word[at:]}") for at in range(3, min(len(word), 40) - 2))
    both = [cut for cut in cuts if len(cut) == 2 and all(map(known.frequency, cut))]
    best = sorted(both, key=lambda cut: -min(map(known.frequency, cut)))
    return [Alternative(tuple(cut), PARTS_WEIGHT) for cut in best[:1]]


def _joined(index: TextIndex, words: Sequence[str]) -> list[Concept]:
    """Return neighbouring words that the index also has as one: `play station`, `tn 2110`."""
    pairs = [index.analysis.analyze(left + right) for left, right in zip(words, words[1:], strict=False)]
    return [
        Concept((Alternative(tuple(pair), JOINED_WEIGHT),))
        for pair in pairs
        if len(pair) == 1 and index.frequency(pair[0])
    ]


def _with_synonyms(
    concepts: Sequence[Concept], terms: Sequence[str], synonyms: Mapping[Terms, tuple[Terms, ...]]
) -> list[Concept]:
    found = list(concepts)
    if not synonyms:
        return found
    for start in range(len(terms)):
        for end in range(start + 1, min(len(terms), start + 6) + 1):
            source = tuple(terms[start:end])
            meanings = [Alternative(target, SYNONYM_WEIGHT) for target in synonyms.get(source, ())]
            if meanings and len(source) == 1:
                place = next(at for at, one in enumerate(found) if one.alternatives[0].terms == source)
                found[place] = Concept((*found[place].alternatives, *meanings))
            elif meanings:
                found.append(Concept(tuple(meanings)))
    return found
