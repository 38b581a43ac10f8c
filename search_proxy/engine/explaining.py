"""Says which text field and which lane gave a hit its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search_proxy.engine.columns import Array
from search_proxy.engine.query_reading import QueryReading
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.snapshot import Snapshot
from search_proxy.engine.text_query import field_query, product_query


def explain_rows(snapshot: Snapshot, reading: QueryReading, rows: Array) -> list[Mapping[str, Any]]:
    """Return `{"lanes": {"text": 9.1}, "fields": {"title": 7.2}, "terms": [["tent"]]}` for every row.

    The best field counts in full and the others by a share, so the fields do not add up to the lane.
    """
    serials = [int(serial) for serial in snapshot.serials[rows]]
    if not serials:
        return []
    text = snapshot.text
    whole = _scores(snapshot, text.only(product_query(text, reading), serials))
    fields = {
        name: _scores(snapshot, text.only(field_query(text, reading, name), serials)) for name in BOOSTS
    }
    return [
        {
            "lanes": {"text": whole.get(serial, 0.0)},
            "fields": {name: scores[serial] for name, scores in fields.items() if serial in scores},
            "terms": [list(a.terms) for concept in reading.concepts for a in concept.alternatives],
            "replaced": dict(reading.replaced),
        }
        for serial in serials
    ]


def _scores(snapshot: Snapshot, query: Any) -> dict[int, float]:
    serials, scores = snapshot.text.matches(query)
    return dict(zip(serials.tolist(), scores.tolist(), strict=True))
