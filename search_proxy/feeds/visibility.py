"""Who may see a product, as a feed says it: a list of groups, or a text such as `gold|silver`.

It is read before anything else is made of the record: an empty list is a draft, and must not be lost as an
empty value is, or the draft would be everybody's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from search_proxy.feeds.cells import split_list
from search_proxy.feeds.columns import ColumnMapping, normalised
from search_proxy.feeds.records import Refused
from search_proxy.filters.visibility import VISIBLE_TO, visibility_problem

_UNWRAPPED = "attributes"
_BELOW = f"{VISIBLE_TO}."


def take_visibility(
    raw: Mapping[str, Any], mapping: ColumnMapping
) -> tuple[Mapping[str, Any], list[str] | None]:
    """Return the record without the column that says who may see it, and its groups; None where none does.

    Raises:
        Refused: It cannot be read, or stands where nobody would look for it.
    """
    explicit = mapping.explicit.get(VISIBLE_TO)
    names = [name for name in raw if _says_who_may_see(name) or name == explicit]
    nested = raw.get(_UNWRAPPED)
    if isinstance(nested, Mapping) and any(map(_says_who_may_see, nested)):
        raise Refused("bad_visibility", _UNWRAPPED, f"{VISIBLE_TO!r} must stand at the top of the record")
    if not names:
        return raw, None
    if len(names) > 1:
        shown = " and ".join(repr(name) for name in names[:2])
        raise Refused("bad_visibility", names[1], f"{shown} both say who may see the product")
    (name,) = names
    if name.startswith(_BELOW):
        raise Refused("bad_visibility", name, f"who may see a product must be one column, {VISIBLE_TO!r}")
    mapping.decided.setdefault(name, VISIBLE_TO)
    value = raw[name]
    groups = (split_list(value) or "") if isinstance(value, str) else value
    problem = visibility_problem(groups)
    if problem is not None:
        raise Refused("bad_visibility", name, problem)
    return {key: kept for key, kept in raw.items() if key != name}, list(groups)


@lru_cache(maxsize=10_000)
def _says_who_may_see(name: str) -> bool:
    return normalised(name).strip("_") == "visible_to" or name.startswith(_BELOW)
