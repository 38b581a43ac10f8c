"""The sample store holds up as a shop: enough of it, nothing twice, nothing impossible."""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import median
from typing import Any

import pytest

from search_proxy.sample_store import load_sample
from search_proxy.sample_store.colors import COLORS
from search_proxy.sample_store.generate import generate
from search_proxy.sample_store.reading import read_brands, read_ranges

TYPES: dict[str, type] = {
    "_id": str,
    "parentProductId": str,
    "productTitle": str,
    "variantTitle": str,
    "variantImageUrl": str,
    "description": str,
    "currency": str,
    "category": str,
    "department": str,
    "productType": str,
    "brand": str,
    "material": str,
    "color": str,
    "colorFamily": str,
    "price": float,
    "rating": float,
    "reviewCount": int,
    "createdAt": int,
    "stock": int,
    "inStock": bool,
    "tags": list,
    "occasions": list,
    "productCollections": list,
}
PRICES = {"Tents": (45, 1100), "Hiking Socks": (8, 45), "Mugs & Cups": (8, 80), "Rugs": (45, 1400)}


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    """Return every document that ships."""
    return load_sample()


@pytest.fixture(scope="module")
def products(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first variant of every product."""
    first: dict[str, dict[str, Any]] = {}
    for document in documents:
        first.setdefault(document["parentProductId"], document)
    return list(first.values())


def test_the_shipped_file_is_what_the_script_writes(documents: list[dict[str, Any]]) -> None:
    """Nobody can edit one without the other."""
    assert list(generate()) == documents


def test_there_are_enough_products_categories_and_variants(
    documents: list[dict[str, Any]], products: list[dict[str, Any]]
) -> None:
    """At least 1,000 products in at least 16 categories, many of them in several variants."""
    assert len(products) >= 1_000
    assert len({product["category"] for product in products}) >= 16
    assert len(documents) >= 2 * len(products)
    assert len({document["_id"] for document in documents}) == len(documents)


def test_no_two_products_share_a_title_or_a_description(products: list[dict[str, Any]]) -> None:
    """A shopper can tell any two products apart by either."""
    assert len({product["productTitle"] for product in products}) == len(products)
    assert len({product["description"] for product in products}) == len(products)


def test_variants_share_what_is_the_products_and_differ_in_their_own_title(
    documents: list[dict[str, Any]],
) -> None:
    """Title, text, brand and material belong to the product; the variant's title to the variant."""
    by_parent = defaultdict(list)
    for document in documents:
        by_parent[document["parentProductId"]].append(document)
    for variants in by_parent.values():
        for name in ("productTitle", "description", "brand", "material", "category"):
            assert len({variant[name] for variant in variants}) == 1
        assert len({variant["variantTitle"] for variant in variants}) == len(variants)


def test_every_field_has_its_type_and_a_plausible_value(documents: list[dict[str, Any]]) -> None:
    """Every document can be filtered, sorted and shown without a special case."""
    brands = {brand.name for brand in read_brands()}
    for document in documents:
        assert {name: type(document[name]) for name in TYPES} == TYPES
        assert document["currency"] == "EUR"
        assert document["brand"] in brands
        assert document["colorFamily"] == COLORS[document["color"]].family
        assert 3 <= document["rating"] <= 5
        assert document["inStock"] == (document["stock"] > 0)
        assert document["variantImageUrl"] == f"/images/sample/{document['_id']}.svg"
        low, high = PRICES.get(document["category"], (8, 1100))
        assert low <= document["price"] <= high, document["productTitle"]
        assert document.get("compareAtPrice", document["price"] + 1) > document["price"]
        assert 20 <= document.get("weightG", 20) <= 30_000
        assert document.get("gender", "unisex") in {"women", "men", "unisex", "kids"}


def test_a_number_in_a_field_is_a_number_of_one_kind(documents: list[dict[str, Any]]) -> None:
    """No field is text here and a number there, which an index could not take."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        for name, value in document.items():
            kinds[name].add("number" if type(value) in (int, float) else type(value).__name__)
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


def test_more_of_a_thing_costs_more(products: list[dict[str, Any]]) -> None:
    """A tent for more people, and a bag for deeper cold, is dearer in the middle of the range."""

    def middle(kind: str, field: str, value: float) -> float:
        return float(
            median(p["price"] for p in products if p["productType"] == kind and p.get(field) == value)
        )

    assert middle("Trekking Tent", "persons", 1) < middle("Trekking Tent", "persons", 3)
    assert middle("Family Tunnel Tent", "persons", 4) < middle("Family Tunnel Tent", "persons", 8)
    warm_down = [
        p["price"] for p in products if p.get("comfortTempC") == -15 and p["material"].endswith("down")
    ]
    summer = [p["price"] for p in products if p.get("comfortTempC") == 10]
    assert max(summer) < min(warm_down)


def test_larger_bedding_costs_more_than_smaller(documents: list[dict[str, Any]]) -> None:
    """Within one product and colour, a king is dearer than a single."""
    prices: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for document in documents:
        if document["category"] == "Bedding":
            prices[document["parentProductId"], document["color"]][document["size"]] = document["price"]
    compared = [
        (by_size["Single 140 × 200"], by_size["King 240 × 220"])
        for by_size in prices.values()
        if {"Single 140 × 200", "King 240 × 220"} <= by_size.keys()
    ]
    assert compared
    assert all(single < king for single, king in compared)


def test_a_description_says_what_the_attributes_say(products: list[dict[str, Any]]) -> None:
    """Numbers in the text are the product's own."""
    for product in products:
        text = product["description"]
        if "comfortTempC" in product:
            assert f"{product['comfortTempC']} °C" in text
        for litres in re.findall(r"[Hh]olds ([\d.]+) l\b", text):
            assert float(litres) == product["capacityL"]
        for lumens in re.findall(r"([\d,]+) lumens", text):
            assert int(lumens.replace(",", "")) == product["lumens"]


@pytest.mark.parametrize(
    "mistake",
    [
        r"[{}]",
        r"\b[Aa] (?!one)[aeio]\w+",
        r"\b[Aa]n (?!hour)[bcdfghjklmnpqrstvwxyz]\w+",
        r"\b[Aa] (8|11|18)\d*\b",
        r"\bNone\b",
        r"  ",
        r" [,.;:]",
        r"\.\.",
        r"\b(\w+) \1\b",
    ],
)
def test_no_text_has_the_marks_of_a_template_gone_wrong(products: list[dict[str, Any]], mistake: str) -> None:
    """Articles agree, nothing is left unfilled, no word is said twice."""
    texts = [product["productTitle"] + ". " + product["description"] for product in products]
    assert [text for text in texts if re.search(mistake, text)] == []


def test_every_maker_makes_only_ranges_that_exist_and_every_range_has_three_makers() -> None:
    """A range with one brand would not be a choice."""
    ranges = {entry.name for entry in read_ranges()}
    made = [name for brand in read_brands() for name in brand.makes]
    assert set(made) == ranges
    assert {name: made.count(name) for name in ranges if made.count(name) < 3} == {}
