"""What one caller may see of one index: the filter that every question of theirs is held to.

The filter is the only place where groups become a condition; searching, facets, descriptions, completions and
document fetches all take it from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.caller import Caller
from search_proxy.errors import UnknownField
from search_proxy.filters import Filter, InFilter, leaves, merge_filters, visibility_filter
from search_proxy.filters.visibility import VISIBLE_TO, is_visibility_field
from search_proxy.models import IndexDescription, SearchRequest

_NOTHING = InFilter(field="_id", values=("",))
"""No document has an empty id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """A caller's rights in an index; `forced` is None where they may see all of it.

    `is_everything_open` says that they see all of an index whose documents say nothing of who may see them.
    """

    caller: Caller
    settings: ViewGateSettings
    forced: Filter | None
    is_everything_open: bool

    @property
    def is_owner(self) -> bool:
        """Whether the account itself asks: who may see what does not bind it, and is its to know."""
        return self.caller.is_owner

    @property
    def text(self) -> str:
        """The rights as a text that is equal for equal rights under equal settings."""
        settings = None if self.is_owner else self.settings.model_dump(exclude={"timeout_ms"})
        whole = repr((settings, sorted(self.caller.groups), str(self.caller.forced_filter or "")))
        return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:32]

    def bound(self, request: SearchRequest) -> SearchRequest:
        """Return the request with the rights in it, whatever it says of rights itself.

        Raises:
            UnknownField: It asks who may see what, which is the account's to know.
        """
        if not self.is_owner:
            _refuse_asking_who_sees(request)
        elif self.forced is None and request.forced_filter is None and not request.forced_attributes:
            return request
        return replace(
            request,
            filter=merge_filters(self.forced, request.filter),
            forced_filter=self.forced,
            forced_attributes=() if self.is_owner else (VISIBLE_TO,),
        )

    def shown(self, description: IndexDescription) -> IndexDescription:
        """Return a description of what they may see as they may see it."""
        is_partial = not self.is_everything_open or description.says_who_may_see
        fields = description.fields
        if not self.is_owner and description.says_who_may_see:
            fields = tuple(field for field in fields if not is_visibility_field(field.name))
        is_judged = not self.is_owner and self.settings.kind == "http"
        text = self.text if is_partial else ""
        if (fields, text, is_judged) == (description.fields, description.rights, description.is_judged):
            return description
        return replace(description, fields=fields, rights=text, is_judged=is_judged)


def rights_of(caller: Caller, settings: ViewGateSettings) -> Rights:
    """Return the rights of a caller under an index's settings."""
    if caller.is_owner:
        own = caller.forced_filter
        return Rights(caller=caller, settings=settings, forced=own, is_everything_open=own is None)
    seen: Filter = visibility_filter(caller.groups, require_field=settings.require_field)
    if settings.kind == "closed":
        seen = _NOTHING
    # What opens everything where nothing is said comes first: the engine leaves it out there.
    forced = merge_filters(seen, caller.forced_filter)
    is_open = caller.forced_filter is None and not settings.require_field
    return Rights(
        caller=caller,
        settings=settings,
        forced=forced,
        is_everything_open=is_open and settings.kind in ("local", "none"),
    )


def without_visibility(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document without what it says of who may see it: other customers' names."""
    if VISIBLE_TO not in document:
        return document
    return {name: value for name, value in document.items() if not is_visibility_field(name)}


def _refuse_asking_who_sees(request: SearchRequest) -> None:
    asked = [("filter", leaf.field) for leaf in ([] if request.filter is None else leaves(request.filter))]
    asked += [("sortBy", field.name) for field in request.sort_by]
    if request.facets is not None:
        asked += [("facets", field.name) for field in request.facets.fields]
    for where, name in asked:
        if is_visibility_field(name):
            raise UnknownField(name, (), where)
