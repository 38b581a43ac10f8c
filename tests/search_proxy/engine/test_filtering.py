"""The engine's filters mean what the filter language says, document by document."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.filtering import passing, without_terms
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.errors import InvalidSearch, UnknownField
from search_proxy.filters import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    parse_filter,
)
from search_proxy.filters.matching import matches

_FIELDS = ["color", "size", "size.width", "_id", "price"]
_TEXTS = st.sampled_from(
    ["red", "Red", "RED wine", "straße", "STRASSE", "true", "5", "5.0", "1e0", "", "two red"]
)
_NUMBERS = st.one_of(
    st.integers(-3, 6),
    st.sampled_from([2**53, 2**53 + 1, -(2**63), 2**63 - 1]),
    st.sampled_from([0.5, 5.0, -1.0, 1.0, 2.0**53, 1e300]),
)
_SCALARS = st.one_of(_TEXTS, _NUMBERS, st.booleans(), st.none())
_VALUES = st.one_of(
    _SCALARS, st.lists(_SCALARS, max_size=3), st.dictionaries(st.sampled_from(["width", "a"]), _SCALARS)
)
_DOCUMENTS = st.lists(
    st.dictionaries(st.sampled_from(["color", "size", "size.width", "price"]), _VALUES),
    min_size=1,
    max_size=8,
).map(lambda bodies: [{"_id": f"Red {at}", **body} for at, body in enumerate(bodies)])
_WANTED = st.one_of(
    _TEXTS, _NUMBERS.map(str), st.sampled_from(["Red 0", "red 1", "nan", "inf", " 5", "False"])
)
_BOUNDS = st.one_of(_NUMBERS, st.sampled_from([float("inf"), float("-inf"), 2**70, 10**400]))
_LEAVES = st.one_of(
    st.builds(TermFilter, st.sampled_from(_FIELDS), _WANTED),
    st.builds(InFilter, st.sampled_from(_FIELDS), st.lists(_WANTED, min_size=1, max_size=3).map(tuple)),
    st.builds(ContainsFilter, st.sampled_from(_FIELDS), _WANTED.filter(bool)),
    st.builds(RangeFilter, st.sampled_from(_FIELDS), _BOUNDS, st.one_of(st.none(), _BOUNDS)),
    st.builds(RangeFilter, st.sampled_from(_FIELDS), st.none(), _BOUNDS),
)
_FILTERS: st.SearchStrategy[Filter] = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(NotFilter, inner), st.builds(AndFilter, inner, inner), st.builds(OrFilter, inner, inner)
    ),
    max_leaves=8,
)


def _passing(folder: Path, wanted: Filter) -> set[str]:
    _, snapshot = open_snapshot(folder)
    return {snapshot.ids[row] for row in np.flatnonzero(passing(snapshot, wanted).mask).tolist()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents=_DOCUMENTS, filters=st.lists(_FILTERS, min_size=5, max_size=12))
def test_every_filter_passes_exactly_the_documents_that_match(
    documents: list[dict[str, Any]], filters: list[Filter]
) -> None:
    """The postings agree with the plain reading of the language, over random documents and trees."""
    everywhere = {"_id": "every field", **dict.fromkeys(["color", "size", "size.width", "price"], "seen")}
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path) / "account" / "index"
        add_documents(folder, [everywhere, *documents[: len(documents) // 2]])
        add_documents(folder, documents[len(documents) // 2 :])
        _, snapshot = open_snapshot(folder)
        for wanted in filters:
            found = {snapshot.ids[row] for row in np.flatnonzero(passing(snapshot, wanted).mask).tolist()}
            assert found == {str(one["_id"]) for one in [everywhere, *documents] if matches(wanted, one)}, (
                str(wanted)
            )


def test_the_reference_cases_hold(shared_data: Path, tmp_path: Path) -> None:
    """Every recorded case of the language passes the recorded documents. Source: filter_match_cases.json."""
    groups = json.loads((shared_data.parent / "contract" / "filter_match_cases.json").read_text())
    for number, group in enumerate(groups):
        folder = tmp_path / "account" / str(number)
        add_documents(folder, group["docs"])
        for case in group["cases"]:
            try:
                found = _passing(folder, parse_filter(case["filter"]))
            except UnknownField:
                found = set()
            assert found == set(case["ids"]), f"{group['name']}: {case['filter']}"


def test_ten_thousand_values_or_terms_are_answered_without_recursion(tmp_path: Path) -> None:
    """Neither a list of 10,000 values nor a chain of 10,000 terms, however nested, exhausts anything."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": str(number), "sku": f"s{number}"} for number in range(200)])
    listed = InFilter("sku", tuple(f"s{number}" for number in range(100, 10_100)))
    to_the_right: Filter = TermFilter("sku", "s0")
    to_the_left: Filter = TermFilter("sku", "s0")
    for number in range(10_000):
        to_the_right = OrFilter(TermFilter("sku", f"s{number % 100}"), to_the_right)
        to_the_left = OrFilter(to_the_left, NotFilter(TermFilter("sku", f"s{number % 100}")))
    assert len(_passing(folder, listed)) == 100
    assert len(_passing(folder, to_the_right)) == 100
    assert len(_passing(folder, to_the_left)) == 200


def test_a_longer_list_of_values_is_refused(tmp_path: Path) -> None:
    """Also of ids, and inside a tree."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": "1", "sku": "a"}])
    for field in ("_id", "sku"):
        listed = InFilter(field, tuple(map(str, range(10_001))))
        with pytest.raises(InvalidSearch, match=f"lists 10001 values of '{field}', more than 10000"):
            _passing(folder, AndFilter(TermFilter("sku", "a"), NotFilter(listed)))


def test_two_filters_are_both_required_and_counted(tmp_path: Path) -> None:
    """What a caller is forced to and what a shopper chose are one AND."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": str(at), "size": at, "color": "red"} for at in range(10)])
    _, snapshot = open_snapshot(folder)
    found = passing(snapshot, parse_filter("size:[3 TO 7] OR size:9"), None, parse_filter("NOT size:4"))
    assert np.flatnonzero(found.mask).tolist() == [3, 5, 6, 7, 9]
    assert found.count == 5


def test_deleted_documents_pass_no_filter_and_no_complement(tmp_path: Path) -> None:
    """NOT is the complement among living documents."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": "1", "color": "red"}, {"_id": "2", "color": "blue"}])
    delete_documents(folder, ["2"])
    assert _passing(folder, NotFilter(TermFilter("color", "green"))) == {"1"}


def test_a_field_that_no_document_has_is_an_error_that_lists_the_fields(tmp_path: Path) -> None:
    """A misspelt field is told, not answered with nothing. Source: design 3.7."""
    folder = tmp_path / "account" / "index"
    add_documents(folder, [{"_id": "1", "color": "red"}])
    with pytest.raises(UnknownField, match="filter names unknown field 'colour'; this index has 'color'"):
        _passing(folder, parse_filter("colour:red"))
    assert _passing(folder, parse_filter("price:[* TO 5]")) == set()


@pytest.mark.parametrize(
    ("wanted", "excluded", "left"),
    [
        ("color:red", "color:(red)", None),
        ("color:red AND size:5", "color:red", "size:5"),
        ("(color:red OR color:blue) AND size:5", "color:red", "color:blue AND size:5"),
        ("NOT color:red AND size:5", "color:red", "size:5"),
        ("color:red AND (size:5 AND color:red)", "color:red", "color:red AND size:5"),
    ],
)
def test_excluding_a_term_leaves_the_rest_of_the_filter(wanted: str, excluded: str, left: str | None) -> None:
    """The term goes, its operator with it; of equal terms only the last."""
    rest = without_terms(parse_filter(wanted), [excluded])
    assert (None if rest is None else str(rest)) == (None if left is None else str(parse_filter(left)))


@pytest.mark.parametrize("excluded", ["color:blue", "color", "color:red AND size:5"])
def test_excluding_what_the_filter_does_not_have_is_an_error(excluded: str) -> None:
    """Only a term of the filter itself can be left out."""
    with pytest.raises(InvalidSearch, match="excludeTerms"):
        without_terms(parse_filter("color:red"), [excluded])
