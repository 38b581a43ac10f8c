"""JSON Lines: what a product becomes, and that a bad line costs only itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.feeds import Refusal
from tests.search_proxy.feeds.feed_files import feed_of, lines_of, read_all

GOOD = {"id": "1", "title": "Trail Tent", "price": 249.5}
DEEP_TEXT = '{"id": "9", "title": "T", "x": ' + "[" * 5_000 + "]" * 5_000 + "}"
DEEP_OBJECT = {"id": "9", "title": "T", "a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}
LAST = {"id": "2", "title": "Camp Stove", "price": 39}

_BAD_LINES: list[tuple[Any, str, str | None, str]] = [
    ("not json", "not_json", None, "the line is not JSON"),
    ('{"id": "9", "title": "cut', "not_json", None, "the line is not JSON"),
    ('{"id": "9", "title": "T", "price": NaN}', "not_json", None, "the line is not JSON"),
    ("[1, 2]", "not_an_object", None, "found [1, 2]"),
    ('"text"', "not_an_object", None, "found 'text'"),
    ("null", "not_an_object", None, "found None"),
    (DEEP_TEXT, "nested_too_deeply", None, "nests too deeply"),
    (DEEP_OBJECT, "nested_too_deeply", "a.b.c.d.e.f.g.h.i", "8 levels"),
    ({"title": "T"}, "missing_id", "_id", "a product needs an id"),
    ({"id": None, "title": "T"}, "missing_id", "_id", "a product needs an id"),
    ({"id": "  ", "title": "T"}, "missing_id", "_id", "a product needs an id"),
    ({"id": True, "title": "T"}, "bad_id", "id", "found True"),
    ({"id": 1.5, "title": "T"}, "bad_id", "id", "found 1.5"),
    ({"id": ["a"], "title": "T"}, "bad_id", "id", "found ['a']"),
    ({"id": "x" * 501, "title": "T"}, "bad_id", "id", "500 characters, found 501"),
    ({"id": "1", "title": "Again"}, "duplicate_id", "_id", "id '1' was already read on line 1"),
    ({"id": "9"}, "missing_title", "productTitle", "a product needs a title"),
    ({"id": "9", "title": ""}, "missing_title", "productTitle", "a product needs a title"),
    ({"id": "9", "title": ["a", "b"]}, "bad_title", "title", "a title must be text"),
    ({"id": "9", "title": "T", "price": "cheap"}, "bad_price", "price", "such as 49.95, found 'cheap'"),
    ({"id": "9", "title": "T", "price": True}, "bad_price", "price", "found True"),
    ({"id": "9", "title": "T", "price": [1, 2]}, "bad_price", "price", "found [1, 2]"),
    ({"id": "9", "title": "T", "price": -0.01}, "bad_price", "price", "must not be negative, found -0.01"),
    ({"id": "9", "title": "T", "price": "NaN"}, "bad_price", "price", "must be finite, found 'NaN'"),
    ({"id": "9", "title": "T", "price": "-Infinity"}, "bad_price", "price", "must be finite"),
    ({"id": "9", "title": "T\0T"}, "nul_byte", "title", "NUL"),
    ({"id": "9", "title": "T", "x\0": 1}, "bad_field_name", "x·", "NUL"),
    ({"id": "9", "title": "T", "": 1}, "bad_field_name", "", "a field needs a name"),
    ({"id": "9", "title": "T", "n" * 201: 1}, "bad_field_name", "n" * 200, "200 characters"),
    ({"id": "9", "title": "T", "description": "x" * 1_048_577}, "too_long", "description", "found 1048577"),
    ({"id": "9", "title": "T", "a": "x" * 700_000, "b": "x" * 700_000}, "too_long", None, "a product may"),
    ({"id": "9", "title": "T", **{f"f{n}": n for n in range(1_000)}}, "too_many_fields", None, "1000 fields"),
    ({"id": "9", "title": "T", "tags": ["x"] * 10_001}, "too_many_values", "tags", "found 10001"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "field", "reason"), _BAD_LINES)
def test_a_bad_line_is_refused_by_line_field_and_reason_and_costs_only_itself(
    tmp_path: Path, line: Any, kind: str, field: str | None, reason: str
) -> None:
    """The products before and after it are kept. Source: issue of the catalog, bad lines."""
    products, refusals = read_all(feed_of(tmp_path, lines_of(GOOD, line, LAST)))
    assert [product["_id"] for product in products] == ["1", "2"]
    assert [(refusal.line, refusal.kind, refusal.field) for refusal in refusals] == [(2, kind, field)]
    assert reason in refusals[0].reason


@pytest.mark.parametrize(
    ("broken", "kind", "reason"),
    [
        (b'{"id": "9", "title": "caf\xe9"}', "not_utf8", "byte 0xe9 at column 26"),
        (b'{"id": "9", "title": "a\x00b"}', "nul_byte", "NUL"),
        (b"\xff\xfe\xfd", "not_utf8", "byte 0xff at column 1"),
        (b'{"id": "9", "title": "\\ud800"}', "not_json", "not JSON"),
    ],
)
def test_broken_bytes_refuse_only_their_line(tmp_path: Path, broken: bytes, kind: str, reason: str) -> None:
    """Every line is decoded on its own."""
    content = lines_of(GOOD).encode() + broken + b"\n" + lines_of(LAST).encode()
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["1", "2"]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(2, kind)]
    assert reason in refusals[0].reason


def test_a_number_beyond_all_floats_is_refused(tmp_path: Path) -> None:
    """Whether the JSON reader or the price refuses it, no infinity gets through."""
    line = '{"id": "9", "title": "T", "price": 1e999}'
    products, refusals = read_all(feed_of(tmp_path, lines_of(GOOD, line, LAST)))
    assert len(products) == 2
    assert [refusal.line for refusal in refusals] == [2]


def test_a_product_is_named_as_the_design_names_it(tmp_path: Path) -> None:
    """Known columns get their fields, the rest stay as free attributes. Source: design §3.6a."""
    raw = {
        "id": 77, "name": "Trail Tent", "price_eur": "1,249.50", "image": "t.jpg", "derived_class": "tent",
        "vendor": "Nord Fjell", "body_html": "<p>For <b>two</b>.</p><p>Dry &amp; light</p>",
        "current_stock": 3,
        "collections": "Camping|Sale", "Frame Color": "red", "waterproof": True, "season": None, "note": "",
    }  # fmt: skip
    products, refusals = read_all(feed_of(tmp_path, lines_of(raw)))
    assert refusals == []
    assert products == [
        {
            "_id": "77", "parentProductId": "77", "productTitle": "Trail Tent", "price": 1249.5,
            "currency": "EUR", "variantImageUrl": "t.jpg", "category": "tent", "brand": "Nord Fjell",
            "description": "For two. Dry & light", "stock": 3, "productCollections": ["Camping", "Sale"],
            "frame_color": "red", "waterproof": True,
        }
    ]  # fmt: skip


def test_values_keep_their_types_and_objects_become_field_names(tmp_path: Path) -> None:
    """Numbers, booleans and lists stay; `attributes` is unwrapped, other objects are dotted."""
    raw = {
        **GOOD,
        "attributes": {
            "diagonal": 17.0,
            "touchscreen": False,
            "title": "other",
            "price": 1,
            "ports": {"usb": 2},
        },
        "measures": {"weight": 1.9, "size": {"unit": "cm"}},
        "sizes": [38, 39, None],
        "mixed": [1, "two"],
        "reviews": [{"stars": 5, "tags": ["dry", "light"]}, {"stars": 4, "tags": ["small"]}],
        "huge": 10**30,
        "nested": [[1, 2], [3]],
        "nothing": [],
    }
    products, refusals = read_all(feed_of(tmp_path, lines_of(raw)))
    assert refusals == []
    shown = {name: value for name, value in products[0].items() if name not in ("_id", "parentProductId")}
    assert shown == {
        "productTitle": "Trail Tent",
        "price": 249.5,
        "diagonal": 17.0,
        "touchscreen": False,
        "title": "other",
        "attributes.price": 1,
        "ports.usb": 2,
        "measures.weight": 1.9,
        "measures.size.unit": "cm",
        "sizes": [38, 39],
        "mixed": ["1", "two"],
        "reviews.stars": [5, 4],
        "reviews.tags": ["dry", "light", "small"],
        "huge": 1e30,
        "nested": [1, 2, 3],
    }


def test_a_category_path_gives_its_leaf_and_its_steps(tmp_path: Path) -> None:
    """The leaf is what a shopper would call it."""
    products, _ = read_all(feed_of(tmp_path, lines_of({**GOOD, "product_type": "Home > Camping > Tents"})))
    assert products[0]["category"] == "Tents"
    assert products[0]["category_path"] == ["Home", "Camping", "Tents"]


def test_the_callers_mapping_wins_over_names(tmp_path: Path) -> None:
    """A column that the caller gave away is not guessed for another field."""
    raw = {
        "id": "1",
        "ref": "R-1",
        "title": "long text",
        "label": "Trail Tent",
        "price": 9,
        "net": 7.5,
        "specs": {"col": "red"},
    }
    mapping = {"_id": "ref", "productTitle": "label", "price": "net", "colour": "specs.col"}
    products, refusals = read_all(feed_of(tmp_path, lines_of(raw)), mapping=mapping)
    assert refusals == []
    assert products == [
        {
            "_id": "R-1", "parentProductId": "R-1", "productTitle": "Trail Tent", "price": 7.5,
            "colour": "red",
            "id": "1", "title": "long text",
        }
    ]  # fmt: skip


def test_an_attribute_can_be_named_in_the_mapping(tmp_path: Path) -> None:
    """Columns of the unwrapped `attributes` count as columns."""
    raw = {**GOOD, "attributes": {"type": "Dome tent"}}
    products, _ = read_all(feed_of(tmp_path, lines_of(raw)), mapping={"category": "type"})
    assert products[0]["category"] == "Dome tent"
    assert "type" not in products[0]


def test_blank_lines_and_windows_line_ends_are_nothing_special(tmp_path: Path) -> None:
    """Line numbers count every line of the file."""
    content = "\r\n" + lines_of(GOOD).replace("\n", "\r\n") + "\n  \n" + "oops"
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["1"]
    assert [refusal.line for refusal in refusals] == [5]


def test_of_two_products_with_one_id_the_first_is_kept(tmp_path: Path) -> None:
    """The later one is refused, so that a load gives the same index however it is batched."""
    products, refusals = read_all(feed_of(tmp_path, lines_of(GOOD, {**GOOD, "title": "Other"})))
    assert [product["productTitle"] for product in products] == ["Trail Tent"]
    assert refusals == [
        Refusal(line=2, field="_id", reason="id '1' was already read on line 1", kind="duplicate_id")
    ]


def test_a_refused_product_does_not_take_the_id(tmp_path: Path) -> None:
    """The good product behind it is kept."""
    products, refusals = read_all(feed_of(tmp_path, lines_of({**GOOD, "price": -1}, GOOD)))
    assert (len(products), len(refusals)) == (1, 1)


def test_a_broken_first_line_costs_only_itself_too(tmp_path: Path) -> None:
    """What the file is, most of its first lines say."""
    for first in ("oops", "[1, 2]", '"a","b"', "{oops"):
        products, refusals = read_all(feed_of(tmp_path, lines_of(first, GOOD, LAST)))
        assert [product["_id"] for product in products] == ["1", "2"]
        assert [refusal.line for refusal in refusals] == [1]
