"""Fills templates with a product's facts and writes numbers the way a shop label does."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any


def needs(template: str) -> set[str]:
    """Return the names of the facts that a template speaks of."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def sayable(templates: Iterable[str], facts: Mapping[str, Any]) -> list[str]:
    """Return the templates whose every fact is known."""
    return [template for template in templates if needs(template) <= facts.keys()]


def say(template: str, facts: Mapping[str, Any]) -> str:
    """Return the template with its facts written in, blanks collapsed."""
    shown = {name: number(value) for name, value in facts.items()}
    return " ".join(template.format_map(shown).split())


def number(value: Any) -> str:
    """Return a value as it is printed: 15000 as `15,000`, 1.0 as `1`, 4.5 as `4.5`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if value == int(value):
        return f"{int(value):,}" if abs(value) >= 10_000 else str(int(value))
    return f"{value:g}"


def weight(grams: float) -> str:
    """Return a weight in the unit that a label uses."""
    return f"{grams:.0f} g" if grams < 1000 else f"{grams / 1000:.2f}".rstrip("0").rstrip(".") + " kg"


def shop_price(euros: float, *, whole: bool) -> float:
    """Return the nearest price that a shop would ask; makers either use whole euros or end on ninety-five."""
    if euros >= 100:
        step = 5 if euros < 300 else 10
        rounded = round(euros / step) * step
        return float(rounded if whole else rounded - 0.05)
    if euros < 20 and whole:
        return max(1.0, round(euros * 2) / 2)
    rounded = max(2, round(euros))
    return float(rounded if whole else rounded - 0.05)
