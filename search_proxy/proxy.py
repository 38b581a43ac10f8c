"""Searches on behalf of a caller: the account's rights first, then the backend, then the view gate.

This is the in-process `SearchBinding`. The caller's rights are ANDed as a tree, so nothing that a client or a
model writes can widen them; what is about to leave is checked once more by the account's view gate
(docs/decisions/0015-the-view-gate-closes-twice.md).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from search_proxy.accounts.settings_schema import SettingsReader
from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.backend import SearchBackend
from search_proxy.caller import Caller
from search_proxy.errors import IndexNotFound, UnknownField
from search_proxy.filters import matches
from search_proxy.models import Document, FoundDocument, Hit, IndexDescription, SearchRequest, SearchResult
from search_proxy.viewing.gate import View, ViewGate, ViewGateFailed
from search_proxy.viewing.gates import ViewGates
from search_proxy.viewing.judging import judged_search
from search_proxy.viewing.rights import Rights, rights_of, without_visibility

logger = logging.getLogger(__name__)


class SearchProxy:
    """Applies a caller's rights to every question, then asks the backend.

    Without `settings` every account has the default ones; without `gates` there are no permission services.
    """

    def __init__(
        self,
        backend: SearchBackend,
        settings: SettingsReader | None = None,
        gates: ViewGates | None = None,
    ) -> None:
        self._backend = backend
        self._settings = settings
        self._gates = gates or ViewGates()

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search within the caller's rights, whatever the request says of them.

        Raises:
            SearchError: As the backend; an index outside the caller's list does not exist for them.
        """
        self._check_index(caller, request.index)
        settings = self._view_gate(caller, request.index)
        rights = rights_of(caller, settings)
        bound = rights.bound(request)
        if rights.forced is None:
            return await self._backend.search(caller.account_id, bound)

        async def search(asked: SearchRequest) -> SearchResult:
            return await self._backend.search(caller.account_id, asked)

        gate = None if rights.is_owner else self._gates.gate_for(settings)
        try:
            if gate is None:
                found = await search(bound)
            else:
                view, is_asked = _view(caller, request.index), settings.kind == "http"
                found = await judged_search(search, gate, view, bound, from_the_first=is_asked)
        except UnknownField as error:
            raise await self._as_seen(caller, request.index, error) from error
        whole = not request.explain or not (await self.describe_index(caller, request.index)).rights
        shown = (_as_shown(hit, with_words=whole, with_groups=rights.is_owner) for hit in found.hits)
        return replace(found, hits=tuple(shown))

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; a document that the caller may not see is absent."""
        self._check_index(caller, index)
        settings = self._view_gate(caller, index)
        rights = rights_of(caller, settings)
        found = await self._backend.get_documents(caller.account_id, index, ids)
        # The very documents that were fetched are held to the rights: a write in between changes nothing.
        visible = [_within(entry, rights) for entry in found]
        if rights.is_owner:
            return visible
        gate = self._gates.gate_for(settings)
        if gate is not None:
            visible = await self._judged(caller, index, gate, visible)
        return [
            entry if entry.document is None else replace(entry, document=without_visibility(entry.document))
            for entry in visible
        ]

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Return the index's fields and sizes, of what the caller may see alone.

        Raises:
            SearchError: As the backend; also where the caller's forced filter cannot be answered.
        """
        self._check_index(caller, index)
        rights = rights_of(caller, self._view_gate(caller, index))
        described = await self._backend.describe(caller.account_id, index)
        if rights.forced is not None and not (rights.is_everything_open and not described.says_who_may_see):
            try:
                described = await self._backend.describe(caller.account_id, index, rights.forced)
            except UnknownField as error:
                # What a forced filter asks for nobody has, so there is no field that this caller may know.
                raise UnknownField(error.field, (), error.where) from error
        return rights.shown(described)

    async def _judged(
        self, caller: Caller, index: str, gate: ViewGate, found: Sequence[FoundDocument]
    ) -> list[FoundDocument]:
        asked: list[Document] = [
            {**entry.document, "_id": entry.id} for entry in found if entry.document is not None
        ]
        if not asked:
            return list(found)
        generation = (await self._backend.describe(caller.account_id, index)).generation
        view = _view(caller, index, generation)
        try:
            allowed = await gate.allowed(view, asked)
        except ViewGateFailed as error:
            facts = {"account": view.account_id, "index": index, "request_id": view.request_id}
            logger.warning("view_gate_failed", extra={**facts, "reason": error.reason, "detail": str(error)})
            allowed = frozenset()
        return [
            entry if entry.id in allowed else FoundDocument(id=entry.id, document=None) for entry in found
        ]

    async def _as_seen(self, caller: Caller, index: str, error: UnknownField) -> UnknownField:
        """Return the error with the fields that the caller may know, instead of all there are."""
        known = [field.name for field in (await self.describe_index(caller, index)).fields]
        return UnknownField(error.field, known, error.where)

    def _view_gate(self, caller: Caller, index: str) -> ViewGateSettings:
        if self._settings is None:
            return ViewGateSettings()
        return self._settings.snapshot(caller.account_id, index).settings.view_gate

    def _check_index(self, caller: Caller, index: str) -> None:
        if caller.indexes is not None and index not in caller.indexes:
            raise IndexNotFound(index)


def _view(caller: Caller, index: str, generation: str | None = None) -> View:
    return View(
        account_id=caller.account_id,
        index=index,
        groups=caller.groups,
        generation=generation,
        request_id=caller.request_id,
    )


def _within(entry: FoundDocument, rights: Rights) -> FoundDocument:
    if rights.forced is None or entry.document is None:
        return entry
    is_visible = matches(rights.forced, {**entry.document, "_id": entry.id})
    return entry if is_visible else FoundDocument(id=entry.id, document=None)


def _as_shown(hit: Hit, *, with_words: bool, with_groups: bool) -> Hit:
    """Return a hit as its caller gets it; the index's own words are left out where others' are among them."""
    shown = hit if with_groups else without_visibility(hit)
    if with_words or "_explain" not in shown:
        return shown
    explained = {name: value for name, value in shown["_explain"].items() if name in ("lanes", "fields")}
    return {**shown, "_explain": explained}
