"""Which column becomes which field."""

from __future__ import annotations

import pytest

from search_proxy.feeds.columns import ColumnMapping, attribute_name, normalised
from search_proxy.feeds.html_text import plain_text


@pytest.mark.parametrize(
    ("columns", "fields"),
    [
        (["id", "title", "price"], ["_id", "productTitle", "price"]),
        (["_id", "id", "productTitle", "title"], ["_id", "id", "productTitle", "title"]),
        (["id", "_id"], ["id", "_id"]),
        (["SKU", "Product ID", "Product Name"], ["_id", "parentProductId", "productTitle"]),
        (["product_id", "name"], ["_id", "productTitle"]),
        (["handle", "sku", "title"], ["parentProductId", "_id", "productTitle"]),
        (["id", "item group id", "g:image_link"], ["_id", "parentProductId", "variantImageUrl"]),
        (["productTitle", "variantTitle", "brand"], ["productTitle", "variantTitle", "brand"]),
        (["imageUrl", "bodyHtml", "priceUsd"], ["variantImageUrl", "description", "price"]),
        (["derived_class", "product_type"], ["category", "product_type"]),
        (["google_product_category", "product_type"], ["google_product_category", "category"]),
        (["vendor", "manufacturer"], ["brand", "manufacturer"]),
        (["current_stock", "qty"], ["stock", "qty"]),
        (["price_eur", "price_usd"], ["price", "price_usd"]),
        (["price_per_unit", "price_xyz"], ["price_per_unit", "price_xyz"]),
        (["seo.title", "title"], ["seo.title", "productTitle"]),
    ],
)  # fmt: skip
def test_columns_are_known_by_their_usual_names(columns: list[str], fields: list[str]) -> None:
    """The most telling name of each field wins; the others stay attributes."""
    decided = ColumnMapping().columns(tuple(columns))
    assert [decided[column].field for column in columns] == fields


def test_a_price_column_that_names_its_currency_gives_it() -> None:
    """Also where the caller named the column."""
    assert ColumnMapping().columns(("price_eur",))["price_eur"].currency == "EUR"
    mapped = ColumnMapping({"price": "amount_usd"}).columns(("price", "amount_usd"))
    assert [mapped[name].field for name in ("price", "amount_usd")] == ["price", "price"]
    assert mapped["amount_usd"].currency == "USD"
    assert next(iter(mapped)) == "amount_usd"


def test_columns_mean_the_same_whatever_stands_beside_them() -> None:
    """Of records with other free attributes every time, each has all its columns, under the same fields."""
    mapping = ColumnMapping({"brand": "Maker"})
    for at in range(1_500):
        columns = mapping.columns(("id", f"Attribute {at}", "Title", "Maker", "vendor", "price_eur"))
        assert [column.field for column in columns.values()] == [
            *("brand", "_id", "productTitle", "price", f"attribute_{at}", "vendor"),
        ]
        assert list(columns) == ["Maker", "id", "Title", "price_eur", f"Attribute {at}", "vendor"]
    assert len(mapping.decided) == 1_505
    assert mapping.never_seen() == []


def test_a_column_that_was_named_and_never_came_is_remembered() -> None:
    """For the report of a JSON feed, which has no header to check."""
    mapping = ColumnMapping({"price": "net", "color": "farbe"})
    mapping.columns(("id", "farbe"))
    assert mapping.never_seen() == ["net"]
    assert mapping.decided == {"id": "_id", "farbe": "color"}


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("frameColor", "frameColor"),
        ("display_diagonal", "display_diagonal"),
        ("measures.weight", "measures.weight"),
        ("Color", "color"),
        ("Frame Color (outside)", "frame_color_outside"),
        ("größe", "größe"),
        ("a:b", "a_b"),
        ("???", "???"),
    ],
)
def test_a_free_attribute_has_a_name_that_reads_well_in_a_filter(column: str, name: str) -> None:
    """Names that need no escaping stay as they are."""
    assert attribute_name(column) == name


def test_names_are_compared_without_case_punctuation_and_camel_case() -> None:
    """One spelling for all of them."""
    spellings = ["Product Name", "productName", "PRODUCT_NAME", "product-name", " g:product name "]
    assert {normalised(spelling.strip()) for spelling in spellings} == {"product_name"}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>two</p>", "One two"),
        ("<ul><li>a</li><li>b</li></ul>", "a b"),
        ("bo<b>ld</b>ly", "boldly"),
        ("<script>alert(1)</script>x<style>p{}</style>", "x"),
        ("<p>Fish &amp; chips &euro;5</p>", "Fish & chips €5"),
        ("<!-- note -->x", "x"),
        ("<p>unclosed", "unclosed"),
        ("  plain & simple ", "plain & simple"),
        ("size < 5 and > 3", "size < 5 and > 3"),
    ],
)
def test_a_description_is_read_without_its_markup(markup: str, text: str) -> None:
    """What holds no tag is left as it is."""
    assert plain_text(markup) == text
