"""Reads what a shopper typed as a list of concepts: each a term and what may stand for it.

A size has one form however it is written; a model number may be joined or split; synonyms are the shop's own.
Only a word that the index does not have is completed or repaired, from the index's own terms, so a query
that finds something literally is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from search_proxy.engine.forms import measures, mixed_parts
from search_proxy.engine.synonyms import Terms
from search_proxy.engine.text_index import TextIndex
from search_proxy.engine.vocabulary import Vocabulary

MAX_TERMS = 64
"""A query of 10,000 characters is somebody's page; its first words say what it wants."""

SYNONYM_WEIGHT = 0.8
PARTS_WEIGHT = 0.8
NUMBER_ALONE_WEIGHT = 0.5
COMPLETED_WEIGHT = 0.8
REPAIRED_WEIGHTS: Mapping[int, float] = {1: 0.8, 2: 0.5}
JOINED_WEIGHT = 0.5
MAX_CANDIDATES = 3


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
    """A query as it is searched: its concepts, its literal terms, and what stands in for unknown ones."""

    concepts: tuple[Concept, ...]
    literal: Terms
    replaced: tuple[tuple[str, str], ...] = ()


def read_query(
    index: TextIndex,
    text: str,
    vocabulary: Callable[[], Vocabulary],
    synonyms: Mapping[Terms, tuple[Terms, ...]],
) -> QueryReading:
    """Return the concepts of `text`; `vocabulary` is asked for only when a word is unknown."""
    concepts: list[Concept] = []
    text = text[: MAX_TERMS * 100]
    rest = []
    at = 0
    for form, start, end in measures(text):
        if any(index.frequency(term) for term in index.analyzer.analyze(form)):
            rest.append(text[at:start])
            concepts.append(_measure(index, form, text[start:end]))
            at = end
    rest.append(text[at:])
    terms = list(dict.fromkeys(index.analyzer.analyze(" ".join(rest))))[: MAX_TERMS - len(concepts)]
    replaced: list[tuple[str, str]] = []
    last = terms[-1] if terms and text[-1:].isalnum() else None
    for term in terms:
        concept, instead = _concept(index, term, vocabulary, is_last=term == last)
        concepts.append(concept)
        if instead is not None:
            replaced.append((term, instead))
    concepts.extend(_joined(index, terms))
    concepts = _with_synonyms(concepts, terms, synonyms)
    return QueryReading(concepts=tuple(concepts), literal=tuple(terms), replaced=tuple(replaced))


def _measure(index: TextIndex, form: str, written: str) -> Concept:
    (joined,) = index.analyzer.analyze(form)[:1]
    number = tuple(index.analyzer.analyze(written))[:1]
    return Concept((Alternative((joined,)), Alternative(number, NUMBER_ALONE_WEIGHT)))


def _concept(
    index: TextIndex, term: str, vocabulary: Callable[[], Vocabulary], *, is_last: bool
) -> tuple[Concept, str | None]:
    literal = Alternative((term,))
    if index.frequency(term):
        return Concept((literal,)), None
    parts = tuple(mixed_parts(term))
    if len(parts) > 1:
        if all(index.frequency(part) for part in parts):
            return Concept((literal, Alternative(parts, PARTS_WEIGHT))), " ".join(parts)
        return Concept((literal,)), None
    known = vocabulary()
    completed = known.starting_with(term, MAX_CANDIDATES) if is_last and len(term) > 1 else []
    if completed:
        found = [Alternative((candidate,), COMPLETED_WEIGHT) for candidate in completed]
    else:
        found = [
            Alternative((candidate,), REPAIRED_WEIGHTS[distance])
            for candidate, distance in known.nearest(term, MAX_CANDIDATES)
        ] or _split(known, term)
    return Concept((literal, *found)), " ".join(found[0].terms) if found else None


def _split(known: Vocabulary, term: str) -> list[Alternative]:
    """Return the two words that were written as one, where the index has both: `campingstove`."""
    cuts = [(term[:at], term[at:]) for at in range(3, len(term) - 2)]
    both = [cut for cut in cuts if known.frequency(cut[0]) and known.frequency(cut[1])]
    best = sorted(both, key=lambda cut: -min(known.frequency(cut[0]), known.frequency(cut[1])))
    return [Alternative(cut, PARTS_WEIGHT) for cut in best[:1]]


def _joined(index: TextIndex, terms: Sequence[str]) -> list[Concept]:
    """Return neighbouring words that the index also has as one: `play station`, `tn 2110`."""
    pairs = [left + right for left, right in zip(terms, terms[1:], strict=False)]
    return [Concept((Alternative((pair,), JOINED_WEIGHT),)) for pair in pairs if index.frequency(pair)]


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
