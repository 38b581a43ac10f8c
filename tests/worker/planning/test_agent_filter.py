"""The agent's filter: repaired where one reading is possible, dropped whole where it cannot be used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_proxy.filters import (
    AndFilter,
    ContainsFilter,
    Filter,
    InFilter,
    NotFilter,
    OrFilter,
    RangeFilter,
    TermFilter,
    merge_filters,
    parse_filter,
)
from search_proxy.models import FieldInfo, IndexDescription
from worker.planning.agent_filter import MAX_NODES, check_agent_filter

VALUES = (("Red", 30), ("Navy Blue", 20), ("Tents", 10), ("Torches", 5), ("Accessories", 4), ("Glass", 3))
DESCRIPTION = IndexDescription(
    index="shop",
    documents=100,
    products=100,
    fields=(
        FieldInfo(name="color", kind="string", documents=90, distinct=6, top_values=VALUES),
        FieldInfo(name="tags", kind="array", documents=50, top_values=(("box", 2), ("boxes", 2), ("XL", 1))),
        FieldInfo(name="price", kind="number", documents=90),
        FieldInfo(name="inStock", kind="boolean", documents=90),
        FieldInfo(name="Size", kind="string", documents=9),
        FieldInfo(name="size", kind="string", documents=9),
    ),
    category_field=None,
    language="en",
    generation="1",
)

USABLE = {
    "color:(Red)": TermFilter("color", "Red"),
    "color:Red": TermFilter("color", "Red"),
    "color:(red)": TermFilter("color", "Red"),
    "color:(NAVY BLUE)": TermFilter("color", "Navy Blue"),
    "color:(tent)": TermFilter("color", "Tents"),
    "color:(torch)": TermFilter("color", "Torches"),
    "color:(accessory)": TermFilter("color", "Accessories"),
    "color:(glass)": TermFilter("color", "Glass"),
    "color:(beige)": TermFilter("color", "beige"),
    "tags:(BOX)": TermFilter("tags", "box"),
    "tags:(xl)": TermFilter("tags", "XL"),
    "Color:(red)": TermFilter("color", "Red"),
    "price:(12.50)": TermFilter("price", "12.50"),
    "price:[10 TO 50]": RangeFilter("price", 10, 50),
    "price:[10 to *]": RangeFilter("price", 10, None),
    "inStock:(TRUE)": TermFilter("inStock", "true"),
    "color in ((red), (tent))": InFilter("color", ("Red", "Tents")),
    "color contains (navy)": ContainsFilter("color", "navy"),
    "color:(red) and not tags:(box)": AndFilter(
        TermFilter("color", "Red"), NotFilter(TermFilter("tags", "box"))
    ),
    "color:(red) or (price:[1 to 2] and inStock:(true))": OrFilter(
        TermFilter("color", "Red"),
        AndFilter(RangeFilter("price", 1, 2), TermFilter("inStock", "true")),
    ),
    "color:(this and that)": TermFilter("color", "this and that"),
}


@pytest.mark.parametrize("text", USABLE)
def test_a_usable_filter_becomes_a_tree(text: str) -> None:
    """Small operators, and the case and number of listed values, are repaired."""
    checked = check_agent_filter(text, DESCRIPTION)
    assert (checked.filter, checked.dropped_reason) == (USABLE[text], None)


UNUSABLE = {
    "": "empty",
    "brand:(Acme)": "unknown field 'brand'",
    "SIZE:(L)": "unknown field 'SIZE'",
    "color:(red) AND brand:(Acme)": "unknown field 'brand'",
    "price:(cheap)": "'cheap' for 'price', which is a number",
    "price:(nan)": "'nan' for 'price', which is a number",
    "color:[1 TO 2]": "a range over 'color', which is string",
    "price:[9 TO 1]": "a range over 'price' that is empty",
    "inStock:(maybe)": "'maybe' for 'inStock', which is true or false",
    "price CONTAINS (1)": "CONTAINS over 'price', which is number",
    "x" * 1001: "longer than 1000 characters",
    " OR ".join(["price:[1 TO 2]"] * 30): f"more than {MAX_NODES} conditions",
    f"color IN ({', '.join(['(a)'] * 41)})": f"more than {MAX_NODES} values",
}


@pytest.mark.parametrize("text", UNUSABLE)
def test_an_unusable_filter_is_dropped_with_its_reason(text: str) -> None:
    """Never in part: half a filter would mean something else."""
    checked = check_agent_filter(text, DESCRIPTION)
    assert (checked.filter, checked.dropped_reason) == (None, UNUSABLE[text])


@pytest.mark.parametrize("text", ["color:(red", "AND", "color:(a) OR", ") OR (*:*", "color:(a))"])
def test_a_broken_filter_is_dropped_with_its_position(text: str) -> None:
    """The parser's own words reach the log."""
    checked = check_agent_filter(text, DESCRIPTION)
    assert checked.filter is None
    assert (checked.dropped_reason or "").startswith("at position ")


FIELDS = ("color", "tags", "price", "inStock")
conditions = st.one_of(
    st.builds(TermFilter, st.sampled_from(FIELDS), st.text(max_size=12)),
    st.builds(RangeFilter, st.sampled_from(FIELDS), st.integers(0, 99), st.integers(0, 99)),
    st.builds(InFilter, st.sampled_from(FIELDS), st.lists(st.text(max_size=6), min_size=1).map(tuple)),
)
trees: st.SearchStrategy[Filter] = st.recursive(
    conditions,
    lambda inner: st.one_of(
        st.builds(AndFilter, inner, inner), st.builds(OrFilter, inner, inner), st.builds(NotFilter, inner)
    ),
    max_leaves=6,
)
hostile = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            ["color:(red)", " OR ", " AND ", " NOT ", "(", ")", "[", "]", "\\", "*", ":", "price:[1 TO 2]"]
            + [" or ", "_id IN ((a))", "tags:(x) ", " IN ", "((", "))", "\x00", "'", '"', "account:(other)"]
        ),
        max_size=12,
    ).map("".join),
    trees.map(str),
)


@given(trees, trees, hostile)
def test_nothing_the_model_writes_widens_the_other_parts(account: Filter, client: Filter, text: str) -> None:
    """The merged tree is the account's AND the client's AND something; the others stand unchanged."""
    checked = check_agent_filter(text, DESCRIPTION)
    assert (checked.filter is None) == (checked.dropped_reason is not None)
    merged = merge_filters(account, client, checked.filter)
    others = AndFilter(account, client)
    assert merged == (others if checked.filter is None else AndFilter(others, checked.filter))


@given(hostile)
def test_a_checked_filter_means_what_it_says(text: str) -> None:
    """Its text parses to itself, and it names only fields of the index."""
    checked = check_agent_filter(text, DESCRIPTION).filter
    if checked is not None:
        assert parse_filter(str(checked)) == checked
        assert set(fields_of(checked)) <= {field.name for field in DESCRIPTION.fields}


def fields_of(tree: Filter) -> list[str]:
    """Return the names of the fields in a tree."""
    if isinstance(tree, AndFilter | OrFilter):
        return [*fields_of(tree.left), *fields_of(tree.right)]
    if isinstance(tree, NotFilter):
        return fields_of(tree.operand)
    return [tree.field]
