"""Who may go on with a conversation: somebody who may see all that its turns were allowed to show.

A turn is kept with the rights that it was answered under. Its words are read again by the next one, so a
shopper with other rights is told, as for an id that was never given, that there is no such conversation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from search_proxy.caller import Caller

RIGHTS = "rights"
"""Where a turn's state has them."""


def rights_state(caller: Caller) -> dict[str, Any]:
    """Return what a turn is kept with: `{"rights": {"owner": false, "groups": ["gold"], "rest": "..."}}`."""
    return {
        RIGHTS: {"owner": caller.is_owner, "groups": sorted(caller.groups), "rest": _rest(caller)},
    }


def may_continue(caller: Caller, state: Mapping[str, Any], *, equal_groups: bool = False) -> bool:
    """Return whether the caller may read a turn that was kept with `state`.

    With `equal_groups` more groups do not open more for certain, since somebody else decides.
    """
    if caller.is_owner and caller.forced_filter is None and caller.indexes is None:
        return True
    kept = state.get(RIGHTS)
    if not isinstance(kept, Mapping) or kept.get("rest") != _rest(caller):
        return False
    if caller.is_owner or kept.get("owner") is not False:
        return caller.is_owner
    groups = kept.get("groups")
    if not isinstance(groups, list):
        return False
    return set(groups) == caller.groups if equal_groups else set(groups) <= caller.groups


def _rest(caller: Caller) -> str:
    indexes = None if caller.indexes is None else sorted(caller.indexes)
    text = repr((str(caller.forced_filter or ""), indexes))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
