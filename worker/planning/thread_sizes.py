"""Compares sizes as a catalog writes them: "M" and "XL", "EU 42" and "EU 43", "120 × 170 cm" by its area.

"Larger" is strictly above every size that is spoken of, "smaller" strictly below; sizes of different kinds
are not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from search_proxy.filters import InFilter
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_state import Constraint, ThreadState

_LETTERS = {
    name: place
    for place, names in enumerate(("xxs", "xs", "s", "m", "l", "xl", "xxl 2xl", "xxxl 3xl", "xxxxl 4xl"))
    for name in names.split()
} | {"small": 2, "medium": 3, "large": 4, "extra large": 5}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def sizes_beyond(
    state: ThreadState, spoken_of: Iterable[ShownProduct], vocabulary: Vocabulary, *, larger: bool
) -> Constraint | None:
    """Return the demand for sizes beyond the ones demanded or shown, None where there is none to name."""
    field = next(iter(vocabulary.roles.sizes), None)
    if field is None:
        return None
    known = {each.value.casefold(): each.value for each in vocabulary.values.get(field, {}).values()}
    demanded = [
        value for each in state.constraints if each.role == "size" and each.wanted for value in _named(each)
    ]
    shown = [name for product in spoken_of for name in product.attributes if name in known]
    measured = [found for name in demanded or shown if (found := measure(name)) is not None]
    if not measured:
        return None
    kind = max(measured)[0]
    limit = (max if larger else min)(size for other, size in measured if other == kind)
    beyond = [
        (size[1], value)
        for value in known.values()
        if (size := measure(value)) is not None
        and size[0] == kind
        and (size[1] > limit if larger else size[1] < limit)
    ]
    if not beyond:
        return None
    values = tuple(value for _, value in sorted(beyond, reverse=not larger))
    words = " or ".join(values) if len(values) <= 3 else f"{values[0]} and {'up' if larger else 'down'}"
    return Constraint(role="size", wanted=True, filter=InFilter(field, values), words=words)


def measure(size: str) -> tuple[str, float] | None:
    """Return what kind of size it is and how large, or None where it cannot be compared."""
    text = size.casefold().strip()
    if text in _LETTERS:
        return "letters", float(_LETTERS[text])
    parts = text.split("/")
    if len(parts) > 1 and all(part in _LETTERS for part in parts):
        return "letters", sum(_LETTERS[part] for part in parts) / len(parts)
    numbers = [float(number.replace(",", ".")) for number in _NUMBER.findall(text)]
    if not numbers:
        return None
    unit = re.sub(r"[\d.,\s–-]+", " ", text).strip()
    if len(numbers) == 2 and re.search(r"\d\s?[x×]\s?\d", text):
        # "King 240 × 220" is no rug: a name beside the measures makes it a size of its own kind.
        named = re.search(r"[a-z]{3,}", text) is not None
        return "named area" if named else "area", numbers[0] * numbers[1]
    return f"number {unit}", sum(numbers) / len(numbers)


def _named(constraint: Constraint) -> list[str]:
    if isinstance(constraint.filter, InFilter):
        return list(constraint.filter.values)
    return [constraint.words]
