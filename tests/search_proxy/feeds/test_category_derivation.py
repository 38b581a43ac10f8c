"""Categories for products whose feed has none."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from search_proxy.feeds.category_derivation import derive_categories
from search_proxy.models import Document


def catalog(*titles: str, **fields: str) -> list[Document]:
    """Return one document per title."""
    return [{"_id": f"p{n}", "productTitle": title, **fields} for n, title in enumerate(titles)]


def test_the_noun_that_titles_end_with_is_the_category() -> None:
    """Colours, sizes and model numbers are not."""
    documents = catalog(
        "Canvas Backpack 20 L Blue",
        "Hiking Backpack X200",
        "Small Backpack, Red",
        "Desk Lamp E27",
        "Reading Lamp black",
        "Floor Lamp 1.5 m",
    )
    assert set(derive_categories(documents).values()) == {"backpack", "lamp"}


def test_a_compound_that_keeps_returning_is_one_category() -> None:
    """A toner cartridge is not just a cartridge."""
    titles = [f"Acme {n}0A toner cartridge Original Black {n} pc(s)" for n in range(1, 9)]
    titles += [f"Acme {n}1B ink cartridge Original Cyan" for n in range(1, 9)]
    names = Counter(derive_categories(catalog(*titles, brand="Acme")).values())
    assert names == {"toner cartridge": 8, "ink cartridge": 8}


def test_what_follows_a_preposition_only_qualifies() -> None:
    """A bag for notebooks is a bag."""
    documents = catalog(
        "Bag for notebook",
        "Leather bag for notebook",
        "Bag with notebook sleeve",
        "Bag for a notebook, black",
    )
    assert set(derive_categories(documents).values()) == {"bag"}


def test_a_brand_is_never_a_category() -> None:
    """Makers stand in titles more often than things do."""
    documents = [
        {"_id": f"{maker}{n}", "productTitle": f"{thing} {maker}", "brand": maker}
        for maker in ("Acme", "Bolt", "Crux", "Dorn", "Elva")
        for n, thing in enumerate(("Table lamp", "Desk lamp", "Wall clock"))
    ]
    assert {name.casefold() for name in derive_categories(documents).values()} <= {
        "lamp", "clock", "table lamp", "desk lamp", "wall clock",
    }  # fmt: skip


def test_a_category_needs_three_members() -> None:
    """Fewer are no choice; the product is left out rather than given a category of its own."""
    documents = catalog("Green Kettle", "Red Kettle", "Oak Chair", "Pine Chair", "Ash Chair")
    assert set(derive_categories(documents).values()) == {"chair"}


def test_a_stated_product_type_wins_over_the_title() -> None:
    """Three products that say what they are."""
    documents = [
        {"_id": f"p{n}", "productTitle": f"Summer Dream {n}", "product_type": "Wall Clock"} for n in range(3)
    ]
    assert set(derive_categories(documents).values()) == {"wall clock"}


def test_a_merchants_own_category_is_left_alone_and_learned_from() -> None:
    """Their word for a thing names the products that they forgot."""
    documents: list[Document] = [
        *({"_id": f"k{n}", "productTitle": f"Folding chair {n}", "category": "Seating"} for n in range(4)),
        *({"_id": f"u{n}", "productTitle": f"Oak chair model {n}"} for n in range(4)),
    ]
    assert derive_categories(documents) == {f"u{n}": "Seating" for n in range(4)}


def test_titles_without_a_confident_noun_are_left_out() -> None:
    """Numbers, names and empty titles make no category and no error."""
    documents = [
        *catalog("XP-2000", "", "12345", "Aurora", "™ ★"),
        {"_id": "none"},
        {"_id": "n", "productTitle": None},
    ]
    assert derive_categories(documents) == {}


def test_the_order_of_the_feed_does_not_matter() -> None:
    """The same catalog has the same categories every night."""
    documents = catalog(
        *(f"{kind} {thing} {n}" for n in range(4) for kind in ("Oak", "Pine") for thing in ("Chair", "Table"))
    )
    shuffled = list(documents)
    random.Random(7).shuffle(shuffled)
    assert derive_categories(shuffled) == derive_categories(documents)


def test_derived_categories_agree_with_real_classes(shared_data: Path) -> None:
    """Of a real catalog's titles: products of one derived category are of one class, and the reverse."""
    documents: list[Document] = []
    classes: dict[str, str] = {}
    with gzip.open(shared_data / "icecat" / "products.jsonl.gz", "rt") as file:
        for record in map(json.loads, file):
            documents.append(
                {"_id": record["id"], "productTitle": record["title"], "brand": record["brand"],
                 **record["attributes"]}
            )  # fmt: skip
            if record.get("derived_class"):
                classes[record["id"]] = record["derived_class"]
    derived = derive_categories(documents)
    assert len(derived) >= 0.75 * len(documents)
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    by_class: dict[str, Counter[str]] = defaultdict(Counter)
    for identity in derived.keys() & classes.keys():
        by_name[derived[identity]][classes[identity]] += 1
        by_class[classes[identity]][derived[identity]] += 1
    for groups in (by_name, by_class):
        judged = sum(counts.total() for counts in groups.values())
        assert sum(counts.most_common(1)[0][1] for counts in groups.values()) >= 0.8 * judged
