"""Composes one product: facts first, then the title, the description and the price that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from search_proxy.sample_store.dice import Dice
from search_proxy.sample_store.grammar import Brand, Fact, Grade, Kind, Material, Range, Size, Span
from search_proxy.sample_store.occasions import good_for
from search_proxy.sample_store.wording import needs, say, sayable, weight

_WHO = {"women": "Women's", "men": "Men's", "unisex": "", "kids": ""}
_CLOTHES = ("S", "M", "L", "XL", "XXL")
_FEET = {"women": range(36, 43), "men": range(40, 48)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A product before it is sold in variants; `price` and `grams` are those of the plain size."""

    title: str
    description: str
    kind: Kind
    brand: Brand
    material: Material
    gender: str | None
    facts: dict[str, Fact]
    price: float
    grams: float | None
    quality: float
    tags: tuple[str, ...]
    occasions: tuple[str, ...]
    colors: tuple[str, ...]
    sizes: tuple[Size, ...]


def compose(dice: Dice, shop_range: Range, kind: Kind, brand: Brand, model: str) -> Product:
    """Return a product of that kind and maker, everything else chosen by the dice."""
    material = shop_range.materials[dice.pick(kind.materials)]
    grade = dice.pick(kind.grades)
    gender = dice.pick(kind.people) if kind.people else None
    quality = min(1.0, max(0.0, (brand.level - 0.75) / 0.6 + dice.around(0, 0.1)))
    facts = _facts(dice, shop_range, kind, grade, material, quality)
    price = _between(kind.price, quality) * grade.price * material.price * dice.around(1, 0.03)
    occasions = _distinct(grade.occasions + kind.occasions)
    grams = None
    if kind.weight is not None:
        grams = _round_grams(_between(kind.weight, quality) * grade.weight * material.weight)
    words: dict[str, Any] = {
        **facts,
        "brand": brand.name,
        "model": model,
        "noun": kind.noun,
        "grade": grade.title,
        "who": _WHO.get(gender or "", ""),
        "mat": material.short,
        "material": material.name,
        "material_cap": material.name[0].upper() + material.name[1:],
    }
    if grams is not None:
        words["weight"] = weight(grams)
    return Product(
        title=say(kind.title or shop_range.title, words),
        description=" ".join(
            part
            for part in (
                _describe(dice, shop_range, kind, material, words),
                good_for(occasions),
                _ending(dice, material, brand),
            )
            if part
        ),
        kind=kind,
        brand=brand,
        material=material,
        gender=gender,
        facts={name: value for name, value in facts.items() if not name.endswith("Info")},
        price=price,
        grams=grams,
        quality=quality,
        tags=_distinct(kind.tags + grade.tags + material.tags),
        occasions=occasions,
        colors=tuple(
            dice.drawn(material.colors or kind.colors, dice.whole(1, shop_range.colors_per_product))
        ),
        sizes=_sizes(dice, kind, gender),
    )


def _facts(
    dice: Dice, shop_range: Range, kind: Kind, grade: Grade, material: Material, quality: float
) -> dict[str, Fact]:
    rolled: dict[str, Fact] = {name: _roll(dice, span, quality) for name, span in kind.numbers.items()}
    facts = {**kind.facts, **rolled, **grade.facts}
    # Fill power is a fact of down, micron one of merino: what only some materials speak of goes with those.
    spoken = {name for other in shop_range.materials.values() for text in other.says for name in needs(text)}
    own = {name for text in material.says for name in needs(text)}
    return {name: value for name, value in facts.items() if name not in spoken or name in own}


def _roll(dice: Dice, span: Span, quality: float) -> float:
    lean = {"more": quality, "less": 1 - quality, "neither": dice.unit()}[span.better]
    place = min(1.0, max(0.0, lean + dice.around(0, 0.12)))
    value = span.low + round((span.high - span.low) * place / span.step) * span.step
    value = round(value, 2)
    return int(value) if value == int(value) else value


def _describe(dice: Dice, shop_range: Range, kind: Kind, material: Material, words: dict[str, Any]) -> str:
    parts = [dice.pick(sayable(kind.openings, words))]
    told = dice.some(sayable(kind.features, words), 2)
    parts += told
    if kind.shared:
        parts += dice.some(sayable(shop_range.features, words), dice.whole(1, 2))
    else:
        parts += dice.some(sayable([text for text in kind.features if text not in told], words), 1)
    parts.insert(2, dice.pick(sayable(material.says, words)))
    specs = sayable(shop_range.specs, words)
    if specs:
        parts.append(dice.pick(specs))
    return " ".join(say(part, words) for part in parts)


def _ending(dice: Dice, material: Material, brand: Brand) -> str:
    turn = dice.unit()
    care = [dice.pick(material.care)] if turn < 0.7 else []
    return " ".join([*care, brand.promise] if turn >= 0.45 else care)


def _sizes(dice: Dice, kind: Kind, gender: str | None) -> tuple[Size, ...]:
    if kind.sizes == "clothing":
        names = list(_CLOTHES[:4] if dice.chance(0.5) else _CLOTHES)
        return tuple(Size(name=name) for name in names)
    if kind.sizes == "footwear":
        feet = _FEET[gender or "men"]
        start = dice.whole(0, len(feet) - 5)
        return tuple(Size(name=f"EU {size}") for size in feet[start : start + 5])
    return kind.sizes


def _between(ends: tuple[float, float], place: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * place


def _round_grams(grams: float) -> float:
    step = 5 if grams < 1000 else 50
    return float(max(step, round(grams / step) * step))


def _distinct(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
