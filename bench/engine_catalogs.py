"""The catalogs that the engine is measured on: real electronics, and a made-up shop of any size.

The made-up shop has the term statistics of a real one: few words are in most products, most words in few
(Zipf), and titles, brands, categories and attributes draw from vocabularies of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from search_proxy.feeds.reader import read_feed
from search_proxy.feeds.records import Refusal

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

_LEFT_OUT = 400
_DRAWN_AT_ONCE = 1_000
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeiou"]


def icecat_products() -> list[dict[str, Any]]:
    """Return the real electronics catalog, as its feed is read; none where it is not on this machine."""
    path = SHARED_DATA / "icecat" / "products.jsonl.gz"
    if not path.exists():
        return []
    return [dict(item.document) for item in read_feed(path) if not isinstance(item, Refusal)]


def made_up_products(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield `count` products of a shop that does not exist, the same ones for the same seed."""
    chance = np.random.default_rng(seed)
    words = made_up_words(20_000)
    colors, brands, categories = words[:24], words[100:700], words[700:850]
    for start in range(0, count, _DRAWN_AT_ONCE):
        size = (_DRAWN_AT_ONCE,)
        category_of, brand_of = _zipf(chance, len(categories), size), _zipf(chance, len(brands), size)
        titles = _zipf(chance, 6_000, (*size, 6)).tolist()
        descriptions = _zipf(chance, len(words), (*size, 30)).tolist()
        color_of = _zipf(chance, len(colors), size)
        prices = chance.lognormal(3.5, 1.0, size).round(2).tolist()
        weights = chance.lognormal(0.0, 1.0, size).round(3).tolist()
        ratings, in_stock = chance.integers(1, 6, size).tolist(), (chance.random(size) < 0.9).tolist()
        for at in range(min(_DRAWN_AT_ONCE, count - start)):
            number, category, brand = start + at, int(category_of[at]), brands[brand_of[at]]
            title = " ".join(words[word] for word in titles[at])
            yield {
                "_id": f"p{number}",
                "parentProductId": f"m{number // 2 if number % 5 == 0 else number}",
                "productTitle": f"{brand} {title} {categories[category]}",
                "brand": brand,
                "category": categories[category],
                "productCollections": [categories[category], categories[category // 10]],
                "description": " ".join(words[word] for word in descriptions[at]),
                "price": prices[at],
                "currency": "EUR",
                "color": colors[color_of[at]],
                "weight": weights[at],
                "rating": ratings[at],
                "inStock": in_stock[at],
                "bucket": number % 1_000,
            }


def made_up_words(count: int) -> list[str]:
    """Return distinct words that can be pronounced."""
    base = len(_SYLLABLES)
    return [
        _SYLLABLES[number % base] + _SYLLABLES[number // base % base] + _SYLLABLES[number // base**2 % base]
        for number in range(count)
    ]


def made_up_queries(count: int, seed: int = 11) -> list[str]:
    """Return queries of one to four words, drawn as titles are but for the commonest words.

    So a query matches about as large a share of the products as real ones do of a real catalog.
    """
    chance = np.random.default_rng(seed)
    words = made_up_words(6_000)[_LEFT_OUT:]
    lengths = chance.integers(1, 5, count)
    return [" ".join(words[at] for at in _zipf(chance, len(words), int(length))) for length in lengths]


def _zipf(
    chance: np.random.Generator, size: int, shape: int | tuple[int, ...]
) -> np.typing.NDArray[np.int64]:
    """Return ranks below `size`, the n-th about 1/n as often as the first."""
    drawn: np.typing.NDArray[np.int64] = (np.exp(chance.random(shape) * np.log(size + 1)) - 1).astype(
        np.int64
    )
    return drawn
