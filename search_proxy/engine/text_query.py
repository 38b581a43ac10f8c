"""Builds the tantivy query of a reading: for every concept its best alternative in its best field, summed.

No query-string parser is involved, so no text can be a syntax error. Concepts are optional: the more of them
a product has, and the better the field, the higher it stands; nothing is ever required.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import tantivy

from search_proxy.engine.query_reading import Alternative, Concept, QueryReading
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.text_index import TextIndex

DISMAX_TIE = 0.1
TITLE_PHRASE_BOOST = 0.5
TITLE_PHRASE_SLOP = 1
ALL_TERMS_IN_TITLE_SCORE = 5.0
"""Measured on ICE and a large judged catalog, rounded. Source: docs/engine.md."""


def product_query(index: TextIndex, reading: QueryReading) -> tantivy.Query:
    """Return the query over all fields."""
    clauses = [(tantivy.Occur.Should, _concept(index, concept, BOOSTS)) for concept in reading.concepts]
    if len(reading.literal) > 1:
        clauses.extend((tantivy.Occur.Should, query) for query in _title_extras(index, reading.literal))
    return tantivy.Query.boolean_query(clauses)


def field_query(index: TextIndex, reading: QueryReading, field: str) -> tantivy.Query:
    """Return what `product_query` asks of one field."""
    clauses = [(tantivy.Occur.Should, _concept(index, one, [field])) for one in reading.concepts]
    return tantivy.Query.boolean_query(clauses)


def _concept(index: TextIndex, concept: Concept, fields: Collection[str]) -> tantivy.Query:
    queries = [_alternative(index, alternative, fields) for alternative in concept.alternatives]
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries, 0.0)


def _alternative(index: TextIndex, alternative: Alternative, fields: Collection[str]) -> tantivy.Query:
    if len(alternative.terms) == 1:
        return _best_field(index, alternative.terms[0], fields, alternative.weight)
    every = [
        (tantivy.Occur.Must, _best_field(index, term, fields, alternative.weight))
        for term in alternative.terms
    ]
    return tantivy.Query.boolean_query(every)


def _best_field(index: TextIndex, term: str, fields: Collection[str], weight: float) -> tantivy.Query:
    queries = [tantivy.Query.boost_query(index.term(field, term), BOOSTS[field] * weight) for field in fields]
    return tantivy.Query.disjunction_max_query(queries, DISMAX_TIE)


def _title_extras(index: TextIndex, terms: Sequence[str]) -> list[tantivy.Query]:
    phrase = tantivy.Query.phrase_query(index.schema, "title", list(terms), TITLE_PHRASE_SLOP)
    every = tantivy.Query.boolean_query([(tantivy.Occur.Must, index.term("title", term)) for term in terms])
    return [
        tantivy.Query.boost_query(phrase, TITLE_PHRASE_BOOST),
        tantivy.Query.const_score_query(every, ALL_TERMS_IN_TITLE_SCORE),
    ]
