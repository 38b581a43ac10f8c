"""Rows chosen from hits: pure functions, so that each rule is seen alone."""

from __future__ import annotations

from typing import Any

import pytest

from search_proxy.models import FieldInfo, FieldKind, Hit, IndexDescription
from worker.planning.catalog_bands import band_name, band_rows, price_bands
from worker.planning.catalog_confidence import category_confidence, descending, split_confidence
from worker.planning.catalog_coverage import coverages
from worker.planning.catalog_groups import group_counts, group_hits, with_named
from worker.planning.catalog_labels import category_label, money
from worker.planning.catalog_roles import Roles, read_roles
from worker.planning.catalog_rows import category_rows
from worker.planning.catalog_splits import split_fields, split_rows
from worker.planning.catalog_vocabulary import learn_vocabulary

ROLES = Roles(categories=("category",), types=("productType",), brands=("brand",), price="price")


def hit(number: int, category: str, title: str = "", **fields: Any) -> Hit:
    """Return a hit."""
    return {"_id": f"p{number}", "category": category, "productTitle": title, **fields}


def labels(hits: list[Hit], topic: str = "", head: str = "") -> list[str]:
    """Return the labels of the rows that the hits make."""
    return [row.label for row in category_rows(group_hits(hits, ("category",), topic, head), ROLES, 6)]


def test_the_best_hits_categories_are_the_rows_strongest_first() -> None:
    """A category's share counts ranks: an early hit says more than a late one."""
    hits = [hit(1, "tent"), hit(2, "tent"), hit(3, "lamp"), hit(4, "lamp"), hit(5, "stove")]
    assert labels(hits) == ["Tents", "Lamps", "Stoves"]


def test_a_category_in_two_fields_is_one_row_that_asks_both() -> None:
    """The feed's category and our derived one name the same thing."""
    hits: list[Hit] = [hit(1, "fan"), {"_id": "p2", "derivedCategory": "fan", "productTitle": ""}]
    groups = group_hits(hits, ("category", "derivedCategory"))
    assert [group.value for group in groups] == ["fan"]
    assert str(groups[0].filter) == "(category:(fan)) OR (derivedCategory:(fan))"


def test_a_hit_that_covers_the_sentence_outweighs_better_ranked_ones_that_do_not() -> None:
    """One rare word must not carry a category: the lamp covers both words, the beds one."""
    hits = [
        hit(1, "Camp Beds", "Camp bed"),
        hit(2, "Camp Beds", "Camp bed, folding"),
        hit(3, "Lamps", "Reading lamp for the bed"),
    ]
    assert labels(hits, topic="reading lamp bed", head="lamp")[0] == "Lamps"


def test_hits_that_share_only_one_of_many_words_make_no_row() -> None:
    """A trumpet has valves too, but nothing else of "chrome shower head and valve"."""
    hits = [hit(1, "Trumpets", "Trumpet with valve"), hit(2, "Taps", "Chrome shower head")]
    assert labels(hits, topic="chrome shower head valve", head="head") == ["Taps"]


def test_words_that_no_hit_has_count_against_none() -> None:
    """A model name that the catalog does not know says nothing about its products."""
    assert coverages([hit(1, "Sofas", "Modular sofa")], "jordanna sofa") == [1.0]


def test_a_word_in_the_description_alone_counts_half() -> None:
    """What a thing is stands in its title; what it goes with stands in its description."""
    hits = [hit(1, "Lamps", "Lamp"), hit(2, "Beds", "Bed", description="goes with a lamp")]
    assert coverages(hits, "lamp") == [1.0, 0.5]


def test_a_category_that_the_query_names_leads_although_rarer_words_drew_the_hits() -> None:
    """Who asks for "bedding for hot sleepers" wants bedding."""
    groups = group_hits([hit(1, "Flasks"), hit(2, "Flasks")], ("category",))
    led = with_named(groups, "category", "Bedding", [hit(3, "Bedding")])
    assert [group.value for group in led] == ["Bedding", "Flasks"]


def test_a_browse_counts_products_because_its_order_says_nothing() -> None:
    """Without a query the first hits are only the oldest."""
    facets = {"category": {"lamp": {"count": 2}, "tent": {"count": 40}}}
    assert [group.value for group in group_counts([hit(1, "lamp")], ("category",), facets)] == [
        "tent",
        "lamp",
    ]


def test_a_type_that_most_hits_of_a_broad_category_have_names_the_row() -> None:
    """The label "Accessories" is no answer where all of them are backpacks."""
    hits = [hit(n, "accessories", "Canvas backpack", productType="backpack") for n in range(4)]
    assert labels(hits) == ["Backpacks"]


def test_a_type_that_is_an_adjective_stands_before_its_category() -> None:
    """The label "Original" alone is nothing to click."""
    hits = [hit(n, "toner cartridge", "Toner cartridge original", productType="Original") for n in range(4)]
    assert labels(hits) == ["Original Toner Cartridges"]


def test_a_type_that_no_title_says_is_shown_under_its_category() -> None:
    """What is "formal" is a kind of footwear, not a thing."""
    hits = [hit(n, "footwear", "Patent oxford", productType="formal") for n in range(4)]
    assert labels(hits) == ["Footwear: Formal"]


def test_at_most_the_asked_number_of_rows_is_made() -> None:
    """The caller's limit binds."""
    groups = group_hits([hit(n, f"kind {chr(97 + n)}") for n in range(8)], ("category",))
    assert len(category_rows(groups, ROLES, 4)) == 4


def test_one_category_is_divided_by_the_field_in_which_its_hits_differ() -> None:
    """Choices within a category, each with products enough, none with the same products."""
    description = IndexDescription(
        index="shop",
        documents=20,
        products=20,
        fields=(
            FieldInfo(name="category", kind="string", documents=20),
            FieldInfo(name="brand", kind="string", documents=20),
            FieldInfo(name="certification", kind="string", documents=20),
        ),
        category_field="category",
        language="en",
        generation="1",
    )
    vocabulary = learn_vocabulary(description, {})
    makers = ("Acme", "Bolt", "Acme", "Crux", "Bolt", "Acme", "Bolt", "Crux", "Rare", "Rare")
    hits = [hit(n, "mouse", brand=maker, certification=f"C{n % 2}") for n, maker in enumerate(makers)]
    fields = split_fields(hits, vocabulary, frozenset({"category"}))
    assert [field.name for field in fields] == ["brand"]
    counts = {
        "brand": {"Acme": {"count": 7}, "Bolt": {"count": 5}, "Crux": {"count": 3}, "Rare": {"count": 2}}
    }
    rows = split_rows("mouse", None, fields, counts, vocabulary.roles, hits, 6)
    assert [(row.label, str(row.filter), row.products) for row in rows] == [
        ("Acme Mice", "brand:(Acme)", 7),
        ("Bolt Mice", "brand:(Bolt)", 5),
        ("Crux Mice", "brand:(Crux)", 3),
    ]


def test_a_field_that_the_query_has_settled_divides_nothing() -> None:
    """Who asked for Acme wants no choice of makers."""
    description = IndexDescription(
        index="shop",
        documents=20,
        products=20,
        fields=(FieldInfo(name="brand", kind="string", documents=20),),
        category_field=None,
        language="en",
        generation="1",
    )
    hits = [hit(n, "mouse", brand=f"Maker {'AB'[n % 2]}") for n in range(10)]
    assert split_fields(hits, learn_vocabulary(description, {}), frozenset({"brand"})) == []


def test_prices_divide_into_round_bands_that_do_not_overlap() -> None:
    """The last resort where nothing else differs; the upper end belongs to the next band."""
    hits = [hit(n, "candle", price=5.0 + 4 * n, currency="EUR") for n in range(12)]
    bands = price_bands(hits, "price")
    counts = {band_name(band): {"count": 4} for band in bands}
    rows = band_rows("candle", None, bands, counts, ROLES, hits)
    assert [(row.label, str(row.filter)) for row in rows] == [
        ("Candles Under €20", "price:[* TO 19.99]"),
        ("Candles €20 to €35", "price:[20 TO 34.99]"),
        ("Candles From €35", "price:[35 TO *]"),
    ]
    assert not rows[0].hits & rows[1].hits


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("toner cartridge", "Toner Cartridges"),
        ("mouse", "Mice"),
        ("usb cable", "USB Cables"),
        ("Home > Kitchen > Mug", "Mugs"),
        ("camp_cookware", "Camp Cookware"),
        ("power adapter/inverter", "Power Adapter/Inverter"),
        ("T-shirt", "T-Shirts"),
        ("Espresso Cups, Set of 4", "Espresso Cups"),
        ("Kids' Headlamp", "Kids' Headlamps"),
        ("Bottles & Flasks", "Bottles & Flasks"),
        ("knife", "Knives"),
    ],
)
def test_labels_are_what_a_shop_would_write(value: str, label: str) -> None:
    """Title case, plural, no path, no raw separators."""
    assert category_label(value) == label


def test_money_is_written_as_its_currency_is() -> None:
    """A sign where there is one, the code where there is none."""
    assert [money(20, "EUR"), money(19.5, "USD"), money(1200, "CHF"), money(20, None)] == [
        "€20",
        "$19.50",
        "1,200 CHF",
        "20",
    ]


def test_confidence_grows_with_the_share_and_orders_the_rows() -> None:
    """Within 0 and 1, more hits more confidence, half an answer less, and the order survives a sort."""
    shares = [category_confidence(share / 10) for share in range(11)]
    assert shares == sorted(shares)
    assert all(0 < share < 1 for share in shares)
    assert category_confidence(0.5, covered=0.5) < category_confidence(0.5)
    assert split_confidence(0.9, 0.1) < split_confidence(0.9, 0.4) < category_confidence(0.9)
    assert descending([0.5, 0.8, 0.5]) == [0.5, 0.499, 0.498]


def test_roles_are_read_from_the_names_that_merchants_use() -> None:
    """A colour is a colour in every spelling, and a link is no choice."""
    kinds: dict[str, FieldKind] = {
        "product_colour": "string",
        "colorFamily": "string",
        "vendor": "string",
        "Variant Price": "number",
        "current_stock": "number",
        "imageUrl": "string",
    }
    fields = tuple(FieldInfo(name=name, kind=kind, documents=10) for name, kind in kinds.items())
    roles = read_roles(
        IndexDescription(
            index="shop",
            documents=10,
            products=10,
            fields=fields,
            category_field=None,
            language="en",
            generation="1",
        )
    )
    assert roles.colours == ("colorFamily", "product_colour")
    assert (roles.brands, roles.price) == (("vendor",), "Variant Price")
    assert roles.stock is not None
    assert roles.stock.name == "current_stock"
