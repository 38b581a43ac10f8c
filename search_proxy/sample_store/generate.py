"""Writes the sample store: `python -m search_proxy.sample_store.generate [FILE]`.

The same seed gives the same shop on every machine; a test compares the shipped file with a new one.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from search_proxy.sample_store.colors import COLORS
from search_proxy.sample_store.compose import Product, compose
from search_proxy.sample_store.dice import Dice
from search_proxy.sample_store.grammar import Brand, Kind, Range, Size
from search_proxy.sample_store.names import NAMES
from search_proxy.sample_store.reading import read_brands, read_ranges
from search_proxy.sample_store.wording import shop_price

_OPENED = 1_646_092_800
_NEWEST = 1_793_404_800
_NEW_SINCE = 1_780_272_000
_MAX_VARIANTS = 10
_PERISHABLE = frozenset({"Candles"})


def generate() -> Iterator[dict[str, Any]]:
    """Yield every document of the shop, variant by variant, in the order of ranges and products."""
    brands = read_brands()
    used_names: dict[str, set[str]] = defaultdict(set)
    descriptions: set[str] = set()
    for shop_range in read_ranges():
        makers = [brand for brand in brands if shop_range.name in brand.makes]
        kinds = [kind for kind in shop_range.kinds for _ in range(kind.share)]
        for number in range(1, shop_range.count + 1):
            dice = Dice(f"{shop_range.prefix}-{number}")
            brand = makers[(number + number // len(makers)) % len(makers)]
            model = _name(dice, shop_range, used_names[brand.name] | used_names[shop_range.name])
            used_names[brand.name].add(model)
            used_names[shop_range.name].add(model)
            product = _new_product(dice, shop_range, kinds[number % len(kinds)], brand, model, descriptions)
            yield from _documents(dice, shop_range, product, f"{shop_range.prefix}-{number:03}")


def _name(dice: Dice, shop_range: Range, used: set[str]) -> str:
    return dice.pick([name for name in NAMES[shop_range.names] if name not in used])


def _new_product(
    dice: Dice, shop_range: Range, kind: Kind, brand: Brand, model: str, descriptions: set[str]
) -> Product:
    while True:
        product = compose(dice, shop_range, kind, brand, model)
        # Two descriptions that differ in the model's name alone would read as the same to a shopper.
        bare = product.description.replace(model, "")
        if bare not in descriptions:
            descriptions.add(bare)
            return product


def _documents(dice: Dice, shop_range: Range, product: Product, parent: str) -> Iterator[dict[str, Any]]:
    whole = sum(map(ord, product.brand.name)) % 2 == 0
    facts = _shared(dice, shop_range, product)
    on_sale = dice.chance(0.12)
    sizes = product.sizes or (Size(name=""),)
    pairs = [(color, size) for color in product.colors for size in sizes][:_MAX_VARIANTS]
    for position, (color, size) in enumerate(pairs, start=1):
        full_price = shop_price(product.price * size.price, whole=whole)
        price = shop_price(full_price * 0.8, whole=whole) if on_sale else full_price
        document: dict[str, Any] = {
            "_id": f"{parent}-{position}",
            "parentProductId": parent,
            "productTitle": product.title,
            "variantTitle": " / ".join(part for part in (color.capitalize(), size.name) if part),
            "variantImageUrl": f"/images/sample/{parent}-{position}.svg",
            "price": price,
            "currency": "EUR",
            **facts,
            "color": color,
            "colorFamily": COLORS[color].family,
            **_stock(dice),
        }
        if size.name:
            document["size"] = size.name
        if product.grams is not None:
            document["weightG"] = round(product.grams * size.weight)
        if on_sale:
            document["compareAtPrice"] = full_price
        document["productCollections"] = _collections(shop_range, product, document, on_sale=on_sale)
        yield document


def _shared(dice: Dice, shop_range: Range, product: Product) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "description": product.description,
        "category": shop_range.name,
        "department": shop_range.department,
        "productType": product.kind.noun,
        "brand": product.brand.name,
        "material": product.material.name,
        **product.facts,
        "rating": round(min(4.9, max(3.2, 3.8 + 0.6 * product.quality + dice.around(0, 0.5))), 1),
        "reviewCount": 2 + int(480 * dice.unit() ** 3),
        "createdAt": _OPENED + int((_NEWEST - _OPENED) * dice.unit() ** 0.8) // 86_400 * 86_400,
        "tags": list(product.tags),
        "occasions": list(product.occasions),
    }
    if product.gender:
        facts["gender"] = product.gender
    if shop_range.name not in _PERISHABLE:
        facts["warrantyYears"] = product.brand.warranty
    return facts


def _stock(dice: Dice) -> dict[str, Any]:
    stock = 0 if dice.chance(0.07) else 1 + int(60 * dice.unit() ** 2)
    return {"inStock": stock > 0, "stock": stock}


def _collections(
    shop_range: Range, product: Product, document: dict[str, Any], *, on_sale: bool
) -> list[str]:
    names = [*shop_range.collections]
    if product.facts.get("season") in ("winter", "4-season"):
        names.append("Winter")
    if product.facts.get("season") == "summer":
        names.append("Summer")
    if "recycled" in product.tags:
        names.append("Recycled materials")
    if document["createdAt"] >= _NEW_SINCE:
        names.append("New in")
    if document["rating"] >= 4.5 and document["reviewCount"] >= 100:
        names.append("Best sellers")
    if document["price"] < 50 and "gift" in product.occasions:
        names.append("Gifts under 50")
    if on_sale:
        names.append("Sale")
    return list(dict.fromkeys(names))


def main(arguments: list[str]) -> None:
    """Write the shop to the named file, or over the one that ships."""
    default = Path(__file__).with_name("products.jsonl.gz")
    path = Path(arguments[0]) if arguments else default
    lines = "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in generate())
    path.write_bytes(gzip.compress(lines.encode(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1:])
