"""Who may see a document: what its `visibleTo` says, and the filter that holds a shopper to it.

`visibleTo` lists customer groups, `"*"` among them for everybody. A filter asks by the reserved name
`_visibleTo`, whose values are those groups, "" where the document says nothing, and none where what it says
cannot be read; so that what is unreadable is nobody's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from search_proxy.filters.merge import merge_filters
from search_proxy.filters.tree import AndFilter, Filter, InFilter

VISIBLE_TO = "visibleTo"
"""The field of a document that lists the groups which may see it."""

VISIBILITY = "_visibleTo"
"""The name by which a filter asks for it; no document can have a field of its own by that name."""

EVERYBODY = "*"
UNSTATED = ""
"""The one value of a document that says nothing."""

MAX_GROUPS = 200
MAX_GROUP_CHARACTERS = 128
"""As many as a key's group may have."""

_BELOW = f"{VISIBLE_TO}."


def visibility_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values of `_visibleTo`: groups, `("",)` where nothing is said, none where it is unreadable.

    Null says nothing, as in every filter.
    """
    value = document.get(VISIBLE_TO)
    if any(name.startswith(_BELOW) for name in document):
        return ()
    if value is None:
        return (UNSTATED,)
    groups = (value,) if isinstance(value, str) else value
    if not isinstance(groups, list | tuple) or not all(isinstance(one, str) and one for one in groups):
        return ()
    return tuple(groups)


def visibility_filter(groups: Collection[str], *, require_field: bool = False) -> Filter:
    """Return the filter that documents pass which somebody of `groups` may see.

    With `require_field` a document has to say who may see it.
    """
    unstated = () if require_field else (UNSTATED,)
    return InFilter(field=VISIBILITY, values=(*unstated, EVERYBODY, *filter(None, sorted(groups))))


def without_open_visibility(wanted: Filter | None) -> Filter | None:
    """Return the filter without the `_visibleTo` part at its beginning, where that lets the silent through.

    Over documents that all say nothing, the two are the same.
    """
    behind: list[Filter] = []
    node = wanted
    while isinstance(node, AndFilter):
        behind.append(node.right)
        node = node.left
    if not isinstance(node, InFilter) or node.field != VISIBILITY or UNSTATED not in node.values:
        return wanted
    return merge_filters(*reversed(behind))


def visibility_problem(value: Any) -> str | None:
    """Return what is wrong with a document's `visibleTo`, or None where it can be read."""
    example = 'must be a list of customer groups, such as ["gold"], or ["*"] for everybody'
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        return f"{example}, not {value!r:.80}"
    if len(value) > MAX_GROUPS:
        return f"has {len(value)} groups; at most {MAX_GROUPS} are kept"
    for one in value:
        if not isinstance(one, str) or not 0 < len(one) <= MAX_GROUP_CHARACTERS:
            return f"{example}; {one!r:.80} is no group of 1 to {MAX_GROUP_CHARACTERS} characters"
    return None


def is_visibility_field(name: str) -> bool:
    """Return whether a field's name asks who may see a document; shoppers cannot ask that."""
    return name in (VISIBLE_TO, VISIBILITY) or name.startswith(_BELOW)
