"""Gives each hit of a page `_matched`, `_excerpt` and `_reason`, from the document that the index holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from search_proxy.engine.best_scores import best_positions
from search_proxy.engine.columns import Array
from search_proxy.engine.ranking import Ranking
from search_proxy.explaining.excerpts import excerpt
from search_proxy.explaining.matched_words import matched_fields, readable
from search_proxy.explaining.reasons import met_demands, reason
from search_proxy.filters.visibility import VISIBLE_TO
from search_proxy.models import SearchRequest

_PROSE = "description"


class HitReasons:
    """Explains the hits of one search."""

    def __init__(self, ranking: Ranking, request: SearchRequest) -> None:
        reading = ranking.reading
        concepts = () if reading is None else reading.concepts
        self._terms = frozenset(
            term for concept in concepts for one in concept.alternatives for term in one.terms
        )
        self._ranking = ranking
        self._request = request
        # A field that is there for the caller's rights is nobody's reason.
        self._hidden = frozenset((VISIBLE_TO, *request.forced_attributes))

    def of(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what can be said of a hit; a part that cannot be said is left out."""
        term_of = self._ranking.snapshot.text.analysis.term
        searched_in = self._ranking.snapshot.manifest.schema.searched_in
        names = [
            name
            for name in document
            if name not in self._hidden and not name.startswith("_") and searched_in(name) is not None
        ]
        names.sort(key=lambda name: _ORDER.get(name, len(_ORDER)))
        matched = matched_fields(document, names, self._terms, term_of) if self._terms else []
        demands = met_demands(document, self._request.filter, self._request.forced_filter)
        said = reason(
            matched,
            [demand for demand in demands if demand.field not in self._hidden],
            is_similar="vector" in self._ranking.lanes,
            language=self._ranking.snapshot.manifest.language,
        )
        passage = excerpt(readable(document.get(_PROSE)), self._terms, term_of)
        found: dict[str, Any] = {"_matched": [{"field": each.field, "words": each.words} for each in matched]}
        if said is not None:
            found["_reason"] = said
        return found if passage is None else found | {"_excerpt": passage}


def below_floor(ranking: Ranking, mask: Array) -> int | None:
    """Return how many of the nearest by meaning were cut for being too far; None where nothing is compared.

    Those that a word found stay, and do not count.
    """
    if ranking.vector is None or ranking.lane is None or ranking.text_scores is None:
        return None
    fusion = ranking.lane.fusion
    floor = ranking.min_similarity if ranking.is_vector_alone else fusion.min_similarity
    rows = ranking.text_rows[mask[ranking.text_rows]]
    scores = ranking.text_scores[mask[ranking.text_rows]]
    near, similarities = ranking.lane.near(ranking.snapshot, ranking.vector, mask, rows, scores)
    best = best_positions(similarities, near, fusion.depth)
    cut = near[best][similarities[best] < (-1.0 if floor is None else floor)]
    return int(np.count_nonzero(~np.isin(cut, rows)))


_ORDER = {name: at for at, name in enumerate(("productTitle", "brand", "category", "description"))}
