"""The many ways to write a size or a model number, brought to one form.

`27"`, `27in`, `27-inch` and `27 inch` all give the term `27inch`; `TN-2110`, `TN 2110` and `TN2110` meet in
`tn2110`. Documents are indexed under these forms beside their own words; queries look for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice

_SPELLINGS: Mapping[str, str] = {
    "inch": "\" ” ″ '' in inch inches zoll pouce pouces pulgada pulgadas",
    "ft": "ft feet foot",
    "mm": "mm",
    "cm": "cm",
    "m": "m meter meters metre metres",
    "g": "g gram grams",
    "kg": "kg kilogram kilograms kilo kilos",
    "lb": "lb lbs pound pounds",
    "oz": "oz ounce ounces",
    "ml": "ml",
    "cl": "cl",
    "l": "l liter liters litre litres",
    "mb": "mb",
    "gb": "gb",
    "tb": "tb",
    "mhz": "mhz",
    "ghz": "ghz",
    "hz": "hz",
    "w": "w watt watts",
    "kw": "kw",
    "v": "v volt volts",
    "mah": "mah",
    "mp": "mp megapixel megapixels",
    "person": "person persons people",
    "pack": "pc pcs piece pieces pack",
}
_UNITS: Mapping[str, str] = {form: unit for unit, forms in _SPELLINGS.items() for form in forms.split()}

_MEASURE = re.compile(r"(?<![\w.,])(\d{1,7})(?:[.,](\d{1,3}))?[ \u00a0-]?(\"|”|″|''|[a-zA-Z]{1,10})(?!\w)")
_MAX_REMEMBERED = 50_000
_COUNT_AHEAD = re.compile(r"\s*-?\s*\d")
_MODEL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-./_][A-Za-z0-9]++)++")
_SEPARATORS = re.compile(r"[-./_]")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_MIXED_PARTS = re.compile(r"[a-z]+|\d+")

_BETWEEN = "\0"

_MAX_FORMS = 200
"""Per text; a specification sheet of thousands of measures is prose to us."""


def measures(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the one form of every size in `text`, and where it stands: `27.0 inches` is `27inch`."""
    for found in _MEASURE.finditer(text):
        form = _form(*found.groups(""))
        if form is None or (found[3].lower() == "in" and _COUNT_AHEAD.match(text, found.end())):
            continue  # `2 in 1` is no size.
        yield form, found.start(), found.end()


def indexed_forms(texts: Sequence[str]) -> list[str]:
    """Return what is indexed beside each text: the forms of its sizes and model numbers."""
    found: list[dict[str, None] | None] = [None] * len(texts)
    ends = list(accumulate(len(text) + len(_BETWEEN) for text in texts))
    # No size or model number reaches across what is between two texts.
    joined = _BETWEEN.join(texts)
    at = 0
    for form, start, _ in measures(joined):
        while ends[at] <= start:
            at += 1
        found[at] = _with(found[at], form)
    at = 0
    for model in _MODEL.finditer(joined):
        joined_model = _joined(model[0])
        if joined_model is not None:
            while ends[at] <= model.start():
                at += 1
            found[at] = _with(found[at], joined_model)
    return ["" if forms is None else " ".join(islice(forms, _MAX_FORMS)) for forms in found]


def mixed_parts(term: str) -> list[str]:
    """Return the letters and the digits of a term in turn: `tn2110` is `tn`, `2110`."""
    return _MIXED_PARTS.findall(term)


def _with(forms: dict[str, None] | None, form: str) -> dict[str, None]:
    forms = {} if forms is None else forms
    forms[form] = None
    return forms


@lru_cache(maxsize=_MAX_REMEMBERED)
def _form(whole: str, fraction: str, written: str) -> str | None:
    """Return the form of what looks like a size, or None where its unit is none."""
    unit = _UNITS.get(written.lower())
    fraction = fraction.rstrip("0")
    return None if unit is None else f"{int(whole)}d{fraction}{unit}" if fraction else f"{int(whole)}{unit}"


@lru_cache(maxsize=_MAX_REMEMBERED)
def _joined(model: str) -> str | None:
    """Return a model number in one word, or None where it has no letter or no digit."""
    if not _DIGIT.search(model) or not _LETTER.search(model):
        return None
    return _SEPARATORS.sub("", model).lower()
