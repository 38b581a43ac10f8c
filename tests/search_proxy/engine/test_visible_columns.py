"""The engine's answer to who may see what is that of the plain rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.columns import FieldColumns
from search_proxy.engine.columns_builder import ColumnsBuilder
from search_proxy.engine.describing import describe_snapshot
from search_proxy.engine.filtering import passing
from search_proxy.engine.flat_documents import Flattening
from search_proxy.engine.postings import FieldPostings
from search_proxy.engine.snapshot import open_snapshot
from search_proxy.engine.visible_columns import visible_columns
from search_proxy.errors import InvalidDocument
from search_proxy.filters import merge_filters, parse_filter, visibility_filter
from search_proxy.filters.visibility import visibility_of

_TEXTS = st.sampled_from(["gold", "Gold", "silver", "*", ""])
_VALUES = st.one_of(
    st.none(),
    _TEXTS,
    st.booleans(),
    st.integers(0, 5),
    st.floats(0, 5),
    st.lists(st.one_of(_TEXTS, st.integers(0, 5), st.booleans()), max_size=3),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_VALUES, min_size=1, max_size=12), st.sets(st.integers(0, 11)))
def test_rows_have_the_values_of_their_documents(values: list[Any], mapped: set[int]) -> None:
    """Also of documents that were written before such values were refused."""
    documents: list[dict[str, Any]] = [
        {"visibleTo.group": "gold"} if row in mapped else {"visibleTo": value}
        for row, value in enumerate(values)
    ]
    flattening = Flattening()
    builder = ColumnsBuilder(flattening)
    builder.add(flattening.flat(0, documents))
    columns, none = builder.build(), FieldColumns({})
    own, below = columns.get("visibleTo", none), columns.get("visibleTo.group", none)
    made = FieldPostings(visible_columns(own, [below], len(values)))
    for wanted in ("gold", "silver", "*", "", "true", "1"):
        expected = {
            row
            for row, document in enumerate(documents)
            if any(one.casefold() == wanted for one in visibility_of(document))
        }
        assert set(made.equal(wanted)) == expected


def test_an_index_that_says_nothing_costs_nothing(tmp_path: Path) -> None:
    """Where no document says who may see it, the rule is left out."""
    add_documents(tmp_path, [{"_id": "a", "color": "red"}, {"_id": "b"}])
    _, snapshot = open_snapshot(tmp_path)
    assert not snapshot.says_who_may_see
    own = visibility_filter({"gold"})
    assert passing(snapshot, own, own).mask is snapshot.live
    assert passing(snapshot, merge_filters(own, parse_filter("color:red")), own).count == 1
    assert passing(snapshot, visibility_filter({"gold"}, require_field=True)).count == 0
    assert describe_snapshot(snapshot, "shop", own) is describe_snapshot(snapshot, "shop")


def test_rows_of_several_segments_are_judged_each(tmp_path: Path) -> None:
    """A change of one document changes its row, and a deleted one has none."""
    add_documents(tmp_path, [{"_id": "a"}, {"_id": "b", "visibleTo": ["gold"]}, {"_id": "c"}])
    add_documents(tmp_path, [{"_id": "c", "visibleTo": ["silver"]}, {"_id": "d", "visibleTo": []}])
    delete_documents(tmp_path, ["a"])
    _, snapshot = open_snapshot(tmp_path)
    seen = {}
    for groups in ((), ("gold",), ("gold", "silver")):
        mask = passing(snapshot, visibility_filter(groups)).mask
        seen[groups] = [snapshot.ids[row] for row in mask.nonzero()[0].tolist()]
    assert seen == {(): [], ("gold",): ["b"], ("gold", "silver"): ["b", "c"]}


def test_a_description_under_a_filter_is_of_what_passes_alone(tmp_path: Path) -> None:
    """Fields, kinds, values, bounds and sizes: nothing of the others shows."""
    add_documents(
        tmp_path,
        [
            {"_id": "a", "brand": "Plain", "price": 10.0, "code": "x"},
            {"_id": "b", "brand": "Plain", "price": 12.0, "code": "y"},
            {
                "_id": "c",
                "brand": "Secret",
                "price": 99.0,
                "code": 7,
                "clearance": "top",
                "visibleTo": "gold",
            },
        ],
    )
    _, snapshot = open_snapshot(tmp_path)
    described = describe_snapshot(snapshot, "shop", visibility_filter(()))
    fields = {field.name: field for field in described.fields}
    assert (described.documents, described.products) == (2, 2)
    assert set(fields) == {"brand", "price", "code"}
    assert fields["brand"].top_values == (("Plain", 2),)
    assert fields["brand"].distinct == 1
    assert (fields["price"].minimum, fields["price"].maximum) == (10.0, 12.0)
    assert (fields["code"].kind, fields["code"].documents, fields["code"].distinct) == ("string", 2, 2)
    assert describe_snapshot(snapshot, "shop", visibility_filter(())) is described
    assert describe_snapshot(snapshot, "shop", visibility_filter({"gold"})).documents == 3


@pytest.mark.parametrize("value", [None, 5, {"gold": True}, ["gold", 5], [""], {}])
def test_a_document_that_could_not_be_read_is_refused_by_name(tmp_path: Path, value: Any) -> None:
    """Nothing of its batch is written."""
    with pytest.raises(InvalidDocument, match="document 'b', field 'visibleTo': ") as refused:
        add_documents(tmp_path, [{"_id": "a"}, {"_id": "b", "visibleTo": value}])
    assert refused.value.field == "visibleTo"


def test_the_reserved_name_is_no_field(tmp_path: Path) -> None:
    """A document cannot say of itself what the rule makes of it."""
    with pytest.raises(InvalidDocument, match="is reserved; who may see it stands in 'visibleTo'"):
        add_documents(tmp_path, [{"_id": "a", "_visibleTo": ["gold"]}])


def test_no_columns_at_all_are_silence() -> None:
    """An index without a document has no row."""
    assert visible_columns(FieldColumns({}), [], 0).distinct_texts == 1
