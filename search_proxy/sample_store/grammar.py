"""The vocabulary in which the shop's ranges are written down (`ranges/*.toml`, `brands.toml`).

A `Range` is a category of the shop, a `Kind` a sort of thing in it. A product is one kind, one grade, one
material and one brand; its sizes and colours are its variants. Texts are templates over the product's own
facts, so that a description cannot say what the attributes do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Fact = str | int | float | bool
"""A value of an attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A maker. `level` is its place in the market: 0.7 plain, 1 middle, 1.4 the best that money buys."""

    name: str
    level: float
    warranty: int
    makes: tuple[str, ...]
    promise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a thing is made of, with sentences (`says`, `care`) that are true of that material alone."""

    name: str
    says: tuple[str, ...]
    care: tuple[str, ...]
    price: float = 1.0
    weight: float = 1.0
    short: str = ""
    colors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A step of a kind that makes another product: a tent for two, a bag for -5 °C."""

    title: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    price: float = 1.0
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    occasions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A size in which one product is sold."""

    name: str
    price: float = 1.0
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A number that varies between products; `better` says which way it goes in the dearer ones."""

    low: float
    high: float
    step: float
    better: Literal["more", "less", "neither"] = "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A sort of thing within a range; `price` is in euros and `weight` in grams, from plain to best.

    `sizes` may be the word `clothing` or `footwear`. `shared` False keeps the range's own
    sentences away from a kind of which they are not true.
    """

    noun: str
    price: tuple[float, float]
    materials: tuple[str, ...]
    openings: tuple[str, ...]
    features: tuple[str, ...]
    share: int = 1
    shared: bool = True
    title: str = ""
    weight: tuple[float, float] | None = None
    grades: tuple[Grade, ...] = (Grade(),)
    sizes: tuple[Size, ...] | Literal["clothing", "footwear"] = ()
    colors: tuple[str, ...] = ()
    numbers: Mapping[str, Span] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    people: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    occasions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A category of the shop: how many products, of which kinds, and what is true of them all."""

    name: str
    department: str
    prefix: str
    count: int
    kinds: tuple[Kind, ...]
    materials: Mapping[str, Material]
    features: tuple[str, ...]
    specs: tuple[str, ...]
    names: Literal["land", "people", "nature"]
    colors_per_product: int
    collections: tuple[str, ...]
    title: str = "{brand} {model} {grade} {who} {noun}"
