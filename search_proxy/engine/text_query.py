"""Builds the tantivy query of what a shopper typed, term by term.

No query-string parser is involved, so no text can be a syntax error. Terms are optional: the more of them a
product has, and the better the field, the higher it stands; nothing is ever required.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.text_index import TextIndex

DISMAX_TIE = 0.1
TITLE_PHRASE_BOOST = 0.5
TITLE_PHRASE_SLOP = 1
ALL_TERMS_IN_TITLE_SCORE = 5.0
"""Measured on ICE and a large judged catalog, rounded. Source: docs/engine.md."""

MAX_TERMS = 64
"""A query of 10,000 characters is somebody's page; its first words say what it wants."""


def query_terms(index: TextIndex, text: str) -> list[str]:
    """Return the distinct terms of `text`, analysed as the documents were."""
    return list(dict.fromkeys(index.analyzer.analyze(text)))[:MAX_TERMS]


def field_query(index: TextIndex, field: str, terms: Sequence[str]) -> tantivy.Query:
    """Return the boosted query of `terms` in one field."""
    clauses = [(tantivy.Occur.Should, index.term(field, term)) for term in terms]
    return tantivy.Query.boost_query(tantivy.Query.boolean_query(clauses), BOOSTS[field])


def product_query(index: TextIndex, terms: Sequence[str]) -> tantivy.Query:
    """Return the query over all fields: for every term its best field and a share of the others, summed."""
    clauses = [(tantivy.Occur.Should, _best_field(index, term)) for term in terms]
    if len(terms) > 1:
        clauses.extend((tantivy.Occur.Should, query) for query in _title_extras(index, terms))
    return tantivy.Query.boolean_query(clauses)


def _best_field(index: TextIndex, term: str) -> tantivy.Query:
    fields = [tantivy.Query.boost_query(index.term(field, term), boost) for field, boost in BOOSTS.items()]
    return tantivy.Query.disjunction_max_query(fields, DISMAX_TIE)


def _title_extras(index: TextIndex, terms: Sequence[str]) -> list[tantivy.Query]:
    phrase = tantivy.Query.phrase_query(index.schema, "title", list(terms), TITLE_PHRASE_SLOP)
    every = tantivy.Query.boolean_query([(tantivy.Occur.Must, index.term("title", term)) for term in terms])
    return [
        tantivy.Query.boost_query(phrase, TITLE_PHRASE_BOOST),
        tantivy.Query.const_score_query(every, ALL_TERMS_IN_TITLE_SCORE),
    ]
