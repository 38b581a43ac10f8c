"""Facets count what plain counting over the documents counts."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest

_ONE = st.one_of(st.sampled_from(["red", "blue", "true"]), st.booleans(), st.integers(0, 2), st.none())
_LISTED = st.one_of(_ONE, st.lists(_ONE, max_size=4))
_DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"parentProductId": st.sampled_from("abc"), "size": st.integers(0, 3)},
        optional={"color": _ONE, "tags": _LISTED},
    ),
    min_size=1,
    max_size=14,
)


def _plain(documents: list[dict[str, Any]], field: str, *, collapsed: bool) -> dict[str, dict[str, int]]:
    """Return how many documents, or products, have each text or truth value."""
    having = defaultdict(set)
    for document in documents:
        value = document.get(field)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | bool):
                name = str(one).lower() if isinstance(one, bool) else one
                having[name].add(document["parentProductId" if collapsed else "_id"])
    return {name: {"count": len(owners)} for name, owners in having.items()}


def _request(wanted: str, *fields: str, collapsed: bool) -> SearchRequest:
    facets = FacetsRequest(fields=tuple(FacetField(name=field) for field in fields))
    return SearchRequest(index="index", q="*", filter=parse_filter(wanted), collapse=collapsed, facets=facets)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies=_DOCUMENTS, collapsed=st.booleans())
def test_counts_are_those_of_plain_counting(bodies: list[dict[str, Any]], collapsed: bool) -> None:
    """Over one value or several, twice the same among them, over variants, deleted documents and a filter."""
    documents = [{"_id": str(at), **body} for at, body in enumerate(bodies)]
    known = {"_id": "known", "color": "red", "tags": ["red"], "size": 9, "parentProductId": "z"}
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path) / "account" / "index"
        add_documents(folder, [*documents[:5], known])
        add_documents(folder, documents[5:] or [known])
        delete_documents(folder, ["0", "known"])
        _, snapshot = open_snapshot(folder)
        request = _request("size:[1 TO 3]", "color", "tags", collapsed=collapsed)
        found = search_snapshot(snapshot, request).facets
    matching = [one for one in documents[1:] if one["size"] >= 1]
    for field in ("color", "tags"):
        assert found[field] == _plain(matching, field, collapsed=collapsed)


def test_variants_count_once_also_where_few_of_many_match(tmp_path: Path) -> None:
    """A narrow filter over a catalog in which every product has variants."""
    folder = tmp_path / "account" / "index"
    documents: list[dict[str, Any]] = [
        {
            "_id": str(at),
            "parentProductId": f"m{at // 3}",
            "size": at,
            "color": f"c{at // 6 % 40}",
            "tags": [f"t{at % 2}", "all"],
        }
        for at in range(1_500)
    ]
    add_documents(folder, documents)
    _, snapshot = open_snapshot(folder)
    found = search_snapshot(snapshot, _request("size:[30 TO 40]", "color", "tags", collapsed=True)).facets
    for field in ("color", "tags"):
        assert found[field] == _plain(documents[30:41], field, collapsed=True)
