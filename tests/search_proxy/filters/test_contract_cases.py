"""The collected cases of the filter language, read from beside the checkout where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search_proxy.filters import FilterSyntaxError, matches, parse_filter

_CONTRACT = Path(__file__).resolve().parents[4] / "shared" / "contract"


def _cases(name: str) -> list[dict[str, Any]]:
    path = _CONTRACT / name
    if not path.is_file():
        pytest.skip(f"{name} is not beside this checkout")
    loaded: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def _tree(text: str) -> dict[str, Any] | None:
    try:
        return parse_filter(text).to_tree()
    except FilterSyntaxError:
        return None


def test_every_collected_filter_has_its_canonical_tree_or_is_refused() -> None:
    """The deviations of docs/filters.md touch none of these cases."""
    cases = _cases("filter_cases.json")
    expected = {case["filter"]: case["canonical"] for case in cases}
    assert {text: _tree(text) for text in expected} == expected
    assert sum(case["valid"] for case in cases) > 50


def test_every_collected_filter_lets_exactly_its_documents_pass() -> None:
    """The reference semantics, every set of documents."""
    for documents in _cases("filter_match_cases.json"):
        for case in documents["cases"]:
            parsed = parse_filter(case["filter"])
            found = sorted(document["_id"] for document in documents["docs"] if matches(parsed, document))
            assert found == case["ids"], (documents["name"], case["filter"])
