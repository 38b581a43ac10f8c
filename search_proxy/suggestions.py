"""Completions of what a shopper is typing, within what the caller may see.

Phrases are counted over the whole catalog. A caller who may see a part of it gets only those that some
product of that part really has, word by word, so that a completion tells nothing about the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from search_proxy.backend import SearchBackend
from search_proxy.binding import SearchBinding
from search_proxy.caller import Caller
from search_proxy.models import SearchRequest

_TRIED_PER_SHOWN = 3


class Completion(Protocol):
    """A query to offer."""

    @property
    def query(self) -> str:
        """The whole query, with what was typed."""
        ...


@runtime_checkable
class Suggester(Protocol):
    """A backend that knows its catalog's phrases."""

    async def suggest(
        self, account_id: str, index: str, prefix: str, limit: int = 10
    ) -> Sequence[Completion]:
        """Return completions of `prefix`, best first.

        Raises:
            IndexNotFound: The account has no such index.
            InvalidSearch: The limit is out of range or the prefix too long.
        """
        ...


async def suggest_queries(
    backend: SearchBackend, search: SearchBinding, caller: Caller, index: str, prefix: str, limit: int
) -> list[str]:
    """Return up to `limit` completions of `prefix`, best first; none where the backend knows no phrases.

    Raises:
        SearchError: As the backend.
    """
    if not isinstance(backend, Suggester):
        return []
    if caller.is_owner and caller.forced_filter is None and caller.indexes is None:
        return [one.query for one in await backend.suggest(caller.account_id, index, prefix, limit)]
    before = await search.describe_index(caller, index)
    if not before.rights:
        found = await backend.suggest(caller.account_id, index, prefix, limit)
        # What was everybody's may have been kept from somebody while the phrases were read.
        if (await search.describe_index(caller, index)).generation == before.generation:
            return [one.query for one in found]
    tried = min(50, limit * _TRIED_PER_SHOWN)
    allowed: list[str] = []
    for one in await backend.suggest(caller.account_id, index, prefix, tried):
        quoted = SearchRequest(index=index, q=f'"{one.query}"', limit=1, attributes_to_retrieve=("_id",))
        if len(allowed) < limit and (await search.handle_search(caller, quoted)).hits:
            allowed.append(one.query)
    return allowed
