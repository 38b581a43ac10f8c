"""A small shop's vocabulary, for tests of the rules that need no index."""

from __future__ import annotations

from search_proxy.models import FieldInfo, FieldKind, IndexDescription
from worker.planning.catalog_vocabulary import Vocabulary, learn_vocabulary

_FIELDS: dict[str, FieldKind] = {
    "productTitle": "string",
    "description": "string",
    "category": "string",
    "productType": "string",
    "brand": "string",
    "color": "string",
    "colorFamily": "string",
    "material": "string",
    "size": "string",
    "gender": "string",
    "price": "number",
    "stock": "number",
    "rating": "number",
}

_VALUES = {
    "category": ["Tents", "Rain Jackets", "Mugs", "Sleeping Bags", "TVs", "Rugs"],
    "productType": ["Mug", "Dome Tent", "Rain Coat"],
    "brand": ["Cairnlow", "Tarnholt", "Sony", "The North Wind", "Kingston Technology"],
    "color": ["black", "navy blue", "poppy red", "forest green"],
    "colorFamily": ["black", "blue", "red", "green", "grey"],
    "material": ["merino wool", "recycled polyester", "nubuck leather"],
    "size": ["S", "M", "XL", "EU 42"],
    "gender": ["women", "men", "unisex"],
}


def shop_vocabulary(*, without: frozenset[str] = frozenset()) -> Vocabulary:
    """Return the vocabulary of the small shop, some fields left out."""
    fields = tuple(
        FieldInfo(name=name, kind=kind, documents=100)
        for name, kind in _FIELDS.items()
        if name not in without
    )
    description = IndexDescription(
        index="shop",
        documents=100,
        products=100,
        fields=fields,
        category_field="category" if "category" not in without else None,
        language="en",
        generation="1",
    )
    facets = {
        name: {value: {"count": 10} for value in values}
        for name, values in _VALUES.items()
        if name not in without
    }
    return learn_vocabulary(description, facets)
