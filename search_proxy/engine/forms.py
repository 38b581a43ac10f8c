"""The many ways to write a size or a model number, brought to one form.

`27"`, `27in`, `27-inch` and `27 inch` all give the term `27inch`; `TN-2110`, `TN 2110` and `TN2110` meet in
`tn2110`. Documents are indexed under these forms beside their own words; queries look for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

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
_COUNT_AHEAD = re.compile(r"\s*-?\s*\d")
_MODEL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-./_][A-Za-z0-9]++)++")
_SEPARATORS = re.compile(r"[-./_]")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_MIXED_PARTS = re.compile(r"[a-z]+|\d+")

_MAX_FORMS = 200
"""Per text; a specification sheet of thousands of measures is prose to us."""


def measures(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the one form of every size in `text`, and where it stands: `27.0 inches` is `27inch`."""
    for found in _MEASURE.finditer(text):
        whole, fraction, written = found.groups("")
        unit = _UNITS.get(written.lower())
        if unit is None or (written.lower() == "in" and _COUNT_AHEAD.match(text, found.end())):
            continue  # `2 in 1` is no size.
        fraction = fraction.rstrip("0")
        value = f"{int(whole)}d{fraction}" if fraction else str(int(whole))
        yield value + unit, found.start(), found.end()


def indexed_forms(text: str) -> str:
    """Return what is indexed beside `text` itself: the forms of its sizes and model numbers."""
    if not _DIGIT.search(text):
        return ""
    forms = {form: None for form, _, _ in measures(text)}
    for found in _MODEL.findall(text):
        if _DIGIT.search(found) and _LETTER.search(found):
            forms[_SEPARATORS.sub("", found).lower()] = None
    return " ".join(list(forms)[:_MAX_FORMS])


def mixed_parts(term: str) -> list[str]:
    """Return the letters and the digits of a term in turn: `tn2110` is `tn`, `2110`."""
    return _MIXED_PARTS.findall(term)
