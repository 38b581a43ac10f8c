"""What `/readyz` says of this process: each part with its state, and whether shoppers can be served.

A model that is down degrades answers and does not make the process unready: the catalog still plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search_proxy.embedding.background import BackgroundEmbedding
from worker.observe.line_writer import process_log
from worker.services import Services


def readiness(services: Services, embedding: BackgroundEmbedding | None) -> Callable[[], Mapping[str, Any]]:
    """Return what gives the facts, from memory, without waiting."""

    def facts() -> Mapping[str, Any]:
        return {
            "ready": not services.runs.draining,
            "draining": services.runs.draining,
            "runs": services.runs.active,
            "model": _model(services),
            "search": _search(services, embedding),
            "cache": _cache(services),
            "conversations": {"store": "redis" if services.settings.redis_url else "sqlite"},
            "log": _log(),
            "workers": {"slot": services.peers.place.slot, "of": services.peers.place.workers},
            "listeners": {"failures": dict(services.observers.failures)},
        }

    return facts


def _log() -> dict[str, Any]:
    log = process_log()
    if log is None:
        return {"state": "ok"}
    return {"state": "ok" if log.error is None else "failing", "lost": log.lost, "error": log.error}


def _cache(services: Services) -> dict[str, Any]:
    # Sums alone: a filter is named after an account and its index, and anybody may ask whether we are well.
    stats, filters = services.cache.stats(), services.cache.snapshot().filter
    return {
        "state": "degraded" if stats["open"] else "ok",
        "open": stats["open"],
        "counts": stats["counts"],
        "filters": {
            "filters": filters.scopes,
            "keys": filters.keys,
            "bytes": filters.bytes_used,
            "oldest_seconds": filters.oldest_seconds,
            "behind_seconds": filters.behind_seconds,
        },
    }


def _search(services: Services, embedding: BackgroundEmbedding | None) -> dict[str, Any]:
    facts = dict(services.embedder.describe())
    if embedding is not None:
        # Sums alone: the names of indexes are their owners' business.
        progress = list(embedding.progress.values())
        facts["embedding"] = {
            "indexes": len(progress),
            "done": sum(index.done for index in progress),
            "of": sum(index.of for index in progress),
            "failed": sum(index.state == "failed" for index in progress),
        }
    return facts


def _model(services: Services) -> dict[str, Any]:
    if services.model is None:
        return {"state": "absent", "plans": "catalog"}
    breakers = {name: breaker.state.value for name, breaker in services.breakers.items()}
    degraded = any(state != "closed" for state in breakers.values())
    return {"state": "degraded" if degraded else "ok", "breakers": breakers}
