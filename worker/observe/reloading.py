"""Takes changed settings into use without a restart, and says which need one.

What is read anew for every request can change under a running server; what a part was opened with cannot.
With several workers their supervisor replaces them instead, which brings every setting into use.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from worker.services import Services
from worker.settings import Settings, SettingsError

logger = logging.getLogger(__name__)

LIVE = frozenset(
    {
        "metrics_open",
        "run_total_seconds",
        "sse_ping_seconds",
        "sse_send_timeout_seconds",
        "tokens_per_day",
    }
)
"""Settings that come into use at once; tests hold each to it."""


def reloaded(services: Services, read: Callable[[], Settings]) -> Services:
    """Return the services with the settings that `read` gives, as far as they can change; log the rest.

    Settings that cannot be used leave everything as it is.
    """
    try:
        new = read()
    except SettingsError as error:
        logger.error("settings_not_reloaded", extra={"error": str(error)})
        return services
    old = services.settings
    changed = sorted(name for name in Settings.model_fields if getattr(old, name) != getattr(new, name))
    live = {name: getattr(new, name) for name in changed if name in LIVE}
    services.budget.tokens_per_day = new.tokens_per_day
    facts = {"in_use": sorted(live), "need_restart": [name for name in changed if name not in LIVE]}
    logger.warning("settings_reloaded", extra=facts)
    return replace(services, settings=old.model_copy(update=live))
