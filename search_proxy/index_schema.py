"""The schema of an index as its owner reads and writes it, over HTTP and on the command line.

What is read is what is in force: everything declared, and for the rest what the feed or the server decides.
It has the form that is written, so it can be saved, edited and given back.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from search_proxy.backend import CatalogWriter
from search_proxy.default_facets import default_facets
from search_proxy.engine.schema import NOT_SEARCHED_AT_ALL, Declaration, SearchSchema
from search_proxy.engine.searchable_text import BOOSTS, NOT_SEARCHED
from search_proxy.models import IndexDescription


@runtime_checkable
class DeclaringCatalog(CatalogWriter, Protocol):
    """A catalog whose indexes have a schema of their own."""

    async def schema(self, account_id: str, index: str) -> SearchSchema:
        """Return what was declared of an index.

        Raises:
            IndexNotFound: The account has no such index.
        """
        ...

    async def fusion(self, account_id: str, index: str) -> str:
        """Return by which method the lanes of an index are fused.

        Raises:
            IndexNotFound: The account has no such index.
        """
        ...

    async def declare_schema(self, account_id: str, index: str, declaration: Declaration) -> int:
        """Replace what is declared, in an index made for it if there is none; return the documents written.

        Another language or another role of a field writes every document anew; searches go on meanwhile.

        Raises:
            InvalidSearch: The index's name is not valid, or no document has a field that is named.
        """
        ...


async def schema_in_force(
    catalog: DeclaringCatalog, account_id: str, description: IndexDescription
) -> dict[str, Any]:
    """Return `language`, `fields`, `boosts`, `facets` and `fusion` as they are in force.

    Raises:
        IndexNotFound: The account has no such index.
    """
    schema = await catalog.schema(account_id, description.index)
    names = dict.fromkeys(field.name.partition(".")[0] for field in description.fields)
    roles = {name: schema.searched_in(name) for name in names if name not in NOT_SEARCHED}
    facets = schema.facets
    if facets is None:
        chosen = default_facets(description)
        facets = () if chosen is None else tuple(field.name for field in chosen.fields)
    return {
        "language": description.language,
        "fields": {
            name: NOT_SEARCHED_AT_ALL if role is None else role[0]
            for name, role in roles.items()
            if not name.startswith("_") and (role is None or role[0] != "enriched")
        },
        "boosts": {name: schema.boosts.get(name, weight) for name, weight in BOOSTS.items()},
        "facets": list(facets),
        "fusion": await catalog.fusion(account_id, description.index),
    }
