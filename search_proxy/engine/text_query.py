"""Scores a reading of a query: for every concept its best alternative, summed.

Concepts are optional: the more of them a product has, and the better the field, the higher it stands. Only a
phrase in quotes is required. The answer is one score for every row of the index, 0 where nothing matches, so
a filter is a mask over it and totals, facets and pages come from the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.distinct import distinct
from search_proxy.engine.query_reading import Alternative, Concept, QueryReading
from search_proxy.engine.text_columns import TEXT_FIELDS
from search_proxy.engine.text_index import SATURATION, Scored, TextIndex

TITLE_PHRASE_BOOST = 0.5
TITLE_PHRASE_SLOP = 1
ALL_TERMS_IN_TITLE_SCORE = 5.0
"""Measured on ICE and a large judged catalog, rounded. Source: docs/engine.md."""


def score_reading(index: TextIndex, reading: QueryReading) -> Array:
    """Return the score of every row over all text fields."""
    scores = _sum_of_concepts(index, reading.concepts, index.scored)
    if len(reading.literal) > 1:
        _add_title_extras(index, reading.literal, scores)
    required = phrase_mask(index, reading)
    if required is not None:
        scores[~required] = 0.0
    return scores


def score_field(index: TextIndex, reading: QueryReading, field: str) -> Array:
    """Return the score that every row has by one text field."""
    return _sum_of_concepts(index, reading.concepts, lambda term: index.scored(term, field))


def phrase_mask(index: TextIndex, reading: QueryReading) -> Array | None:
    """Return which rows have every phrase in quotes in some text field; None where none is asked for."""
    if not reading.phrases:
        return None
    rows = np.arange(index.size)
    for phrase in reading.phrases:
        having = np.intersect1d(rows, index.having_all(phrase), assume_unique=True)
        rows = distinct(index.phrase_starts(phrase, 0, having)[0])
    mask = np.zeros(index.size, bool)
    mask[rows] = True
    return mask


def _sum_of_concepts(index: TextIndex, concepts: Sequence[Concept], scored: Callable[[str], Scored]) -> Array:
    scores = np.zeros(index.size, np.float32)
    for concept in concepts:
        found = [_alternative(index, alternative, scored) for alternative in concept.alternatives]
        if len(found) == 1:
            scores[found[0].rows] += found[0].scores
            continue
        best = np.zeros(index.size, np.float32)
        for one in found:
            best[one.rows] = np.maximum(best[one.rows], one.scores)
        scores += best
    return scores


def _alternative(index: TextIndex, alternative: Alternative, scored: Callable[[str], Scored]) -> Scored:
    first, *others = (scored(term) for term in alternative.terms)
    rows, scores = first.rows, first.scores
    for other in others:
        there = np.zeros(index.size, np.float32)
        there[other.rows] = other.scores
        both = there[rows] > 0
        rows, scores = rows[both], scores[both] + there[rows][both]
    return Scored(rows, scores if alternative.weight == 1.0 else scores * np.float32(alternative.weight))


def _add_title_extras(index: TextIndex, terms: Sequence[str], scores: Array) -> None:
    """Add what a title with all the terms is worth, and what it adds that they follow each other there."""
    complete = index.having_all(terms, "title")
    if not len(complete):
        return
    scores[complete] += np.float32(ALL_TERMS_IN_TITLE_SCORE)
    title = TEXT_FIELDS.index("title")
    rows, fields = index.phrase_starts(terms, TITLE_PHRASE_SLOP, complete)
    rows, counts = np.unique(rows[fields == title], return_counts=True)
    rarity = sum(float(index.weight(term)[title]) for term in terms)
    worth = TITLE_PHRASE_BOOST * float(index.weights[title]) * rarity * (SATURATION + 1)
    scores[rows] += (worth * counts / (counts + index.lengthiness[title, rows])).astype(np.float32)
