"""The looks, in the order in which a person would go."""

from __future__ import annotations

from dataclasses import replace

from worker.doctor.examination import Examined, Look, examine
from worker.doctor.findings import Finding
from worker.doctor.look_at_cache import look_at_cache
from worker.doctor.look_at_conversations import look_at_conversations
from worker.doctor.look_at_features import look_at_features, look_at_index
from worker.doctor.look_at_model import look_at_model
from worker.doctor.look_at_query import look_at_query
from worker.doctor.look_at_requests import look_at_requests
from worker.doctor.look_at_server import look_at_server, look_at_settings

_FIRST: tuple[tuple[str, Look], ...] = (
    ("server", look_at_server),
    ("settings sync", look_at_settings),
    ("index", look_at_index),
)
_THEN: tuple[tuple[str, Look], ...] = (
    ("features", look_at_features),
    ("model", look_at_model),
    ("cache", look_at_cache),
    ("conversations", look_at_conversations),
    ("requests", look_at_requests),
    ("query", look_at_query),
)


async def diagnosis(examined: Examined) -> list[Finding]:
    """Return everything that was found; of an index that is not there, that alone."""
    findings = await examine(examined, _FIRST)
    known = await examined.services.backend.list_indexes(examined.caller.account_id)
    if examined.index not in known:
        examined = replace(examined, index=None, query=None)
    return findings + await examine(examined, _THEN)
