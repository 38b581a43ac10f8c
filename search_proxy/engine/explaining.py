"""Says which text field and which lane gave a hit its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search_proxy.engine.columns import Array
from search_proxy.engine.ranking import Ranking
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.text_query import score_field, score_reading


def explain_rows(ranking: Ranking, rows: Array) -> list[Mapping[str, Any]]:
    """Return `{"lanes": {"text": 9.1}, "fields": {"title": 7.2}, "terms": [["tent"]]}` for every row.

    The best field counts in full and the others by a share, so the fields do not add up to the lane.
    """
    snapshot, reading = ranking.snapshot, ranking.reading
    if not len(rows) or reading is None:
        return []
    text = snapshot.text
    whole = score_reading(text, reading)[rows].tolist()
    fields = {name: score_field(text, reading, name)[rows].tolist() for name in BOOSTS}
    similar = _similarities(ranking, rows)
    terms = [list(one.terms) for concept in reading.concepts for one in concept.alternatives]
    explained: list[Mapping[str, Any]] = []
    for at, row in enumerate(rows.tolist()):
        lanes = {"text": whole[at]}
        if row in similar:
            lanes["vector"] = similar[row]
        explained.append(
            {
                "lanes": lanes,
                "fields": {name: scores[at] for name, scores in fields.items() if scores[at]},
                "terms": terms,
                "replaced": dict(reading.replaced),
            }
        )
    return explained


def _similarities(ranking: Ranking, rows: Array) -> dict[int, float]:
    if ranking.vector is None or ranking.lane is None:
        return {}
    known, values = ranking.lane.similarities(ranking.snapshot, ranking.vector, rows)
    return dict(zip(known.tolist(), values.tolist(), strict=True))
