"""The service bindings between the edge and the worker, as between two edge workers.

`AgenticBinding` is a fetch: the gateway hands an authenticated ASGI request over and the worker answers it.
`SearchBinding` is an RPC: the worker asks for products. Both are in process by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from search_proxy.caller import Caller
from search_proxy.models import FoundDocument, IndexDescription, SearchRequest, SearchResult


class AgenticBinding(Protocol):
    """Answers an agentic request that the gateway has authenticated.

    The request's trusted facts stand in `scope["state"]`: `caller` (a `Caller`) and `settings`
    (a `SettingsSnapshot`).
    """

    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one ASGI HTTP request, streaming as it goes."""
        ...


class SearchBinding(Protocol):
    """Asks the product side on behalf of a caller, whose rights it applies.

    Errors are those of `search_proxy.errors`.
    """

    async def handle_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search within what the caller may see, whatever the request says of it."""
        ...

    async def get_documents(self, caller: Caller, index: str, ids: Sequence[str]) -> Sequence[FoundDocument]:
        """Return one entry per id, in order; a document the caller may not see is absent."""
        ...

    async def describe_index(self, caller: Caller, index: str) -> IndexDescription:
        """Return the index's fields and sizes, of what the caller may see."""
        ...
