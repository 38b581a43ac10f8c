"""What `/readyz` says of this process: each part with its state, and whether shoppers can be served.

A model that is down degrades answers and does not make the process unready: the catalog still plans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from worker.services import Services


def readiness(services: Services) -> Callable[[], Mapping[str, Any]]:
    """Return what gives the facts, from memory, without waiting."""

    def facts() -> Mapping[str, Any]:
        cache = services.cache.stats()
        return {
            "ready": not services.runs.draining,
            "draining": services.runs.draining,
            "runs": services.runs.active,
            "model": _model(services),
            "search": {"lanes": list(services.lanes)},
            "cache": {"open": cache["open"], "filters": cache["filters"], "counts": cache["counts"]},
        }

    return facts


def _model(services: Services) -> dict[str, Any]:
    if services.model is None:
        return {"state": "absent", "plans": "catalog"}
    breakers = {name: breaker.state.value for name, breaker in services.breakers.items()}
    degraded = any(state != "closed" for state in breakers.values())
    return {"state": "degraded" if degraded else "ok", "breakers": breakers}
