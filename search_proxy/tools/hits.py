"""A hit as an agent sees it: enough to choose by, never the body.

`score` goes with its `score_kind`, because BM25, cosine and rank fusion are numbers of different worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from search_proxy.models import Hit
from search_proxy.tools.corpus import CorpusProfile
from search_proxy.tools.dates import read_time, written
from search_proxy.tools.snippet import snippet

ScoreKind = Literal["bm25", "cosine", "rrf"]

_LONGEST_TITLE = 200
_LONGEST_VALUE = 100
_MOST_VALUES = 5

HIT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "title", "snippet", "score", "score_kind"],
    "properties": {
        "id": {"type": "string", "description": "for get_document and read"},
        "title": {"type": "string"},
        "snippet": {"type": "string", "description": "plain text around the match"},
        "score": {"type": ["number", "null"]},
        "score_kind": {"type": ["string", "null"], "enum": ["bm25", "cosine", "rrf", None]},
        "author": {"type": ["string", "null"], "description": "author or brand"},
        "created_time": {"type": ["string", "null"], "description": "ISO 8601"},
        "price": {"type": ["number", "null"]},
        "currency": {"type": ["string", "null"]},
        "fields": {"type": "object", "description": "what the filter's `fields` can ask for"},
    },
}

HITS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["hits", "total"],
    "properties": {
        "hits": {"type": "array", "items": HIT_SCHEMA},
        "total": {"type": "integer", "description": "how many documents matched in all"},
        "note": {"type": "string"},
    },
}


def wanted_attributes(profile: CorpusProfile) -> tuple[str, ...]:
    """Return the attributes that a hit is made of."""
    roles = profile.roles
    parts = (roles.title, roles.subtitle, roles.body, roles.author, roles.created, roles.price)
    named = [name for name in (*parts, roles.currency, "enrichedDescription") if name is not None]
    return tuple(dict.fromkeys([*named, *(info.name for info in profile.facets)]))


def tool_hit(
    profile: CorpusProfile, hit: Hit, query: str | None, kind: ScoreKind | None, score: float | None
) -> dict[str, Any]:
    """Return the wire form of one hit."""
    roles = profile.roles
    title = _titled(hit, roles.title, roles.subtitle)
    created = read_time(hit.get(roles.created)) if roles.created else None
    price = hit.get(roles.price) if roles.price else None
    return {
        "id": str(hit["_id"]),
        "title": title,
        "snippet": snippet(_texts(hit, roles.body, "enrichedDescription"), query) or title,
        "score": None if score is None else round(float(score), 4),
        "score_kind": None if score is None else kind,
        "author": _text(hit.get(roles.author)) if roles.author else None,
        "created_time": None if created is None else written(created),
        "price": price if isinstance(price, int | float) and not isinstance(price, bool) else None,
        "currency": _text(hit.get(roles.currency)) if roles.currency else None,
        "fields": {
            info.name: _value(hit[info.name]) for info in profile.facets if hit.get(info.name) is not None
        },
    }


def _titled(hit: Hit, title: str | None, subtitle: str | None) -> str:
    parts = [text for name in (title, subtitle) if name and (text := _text(hit.get(name)))]
    text = " – ".join(dict.fromkeys(parts)) or str(hit["_id"])
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"


def _texts(hit: Hit, *names: str | None) -> Sequence[str]:
    return [value for name in names if name and isinstance(value := hit.get(name), str)]


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value[:_MOST_VALUES])[:_LONGEST_TITLE] or None
    return value[:_LONGEST_TITLE] if isinstance(value, str) and value else None


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
    if isinstance(value, list):
        return [_value(one) for one in value[:_MOST_VALUES]]
    return value if isinstance(value, bool | int | float) else None
