"""Finds price limits in a sentence: "under 50", "between 20 and 40 euros", "cheaper than $100".

A number with another unit after it ("under 2 kg", "for two people") is no price. The limits are inclusive,
because a shopper who says "under 50" takes the one at 50 too, and ranges of the filter language are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

APPROXIMATELY = 0.2
"""How far "around 50" reaches either way."""

_UNITS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}
_TENS |= {"ninety": 90}
_TEENS = {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}
_TEENS |= {"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19}
_SCALES = {"hundred": 100, "thousand": 1000}
_UNIT = rf"(?:{'|'.join(_UNITS)})"
_BELOW_HUNDRED = rf"(?:(?:{'|'.join(_TENS)})(?:[- ]{_UNIT}\b|(?![- ]{_UNIT}\b))|{'|'.join(_TEENS)}|five)"
_COUNT = rf"(?:an?|{_UNIT}|{'|'.join(_TEENS)})"
_HUNDREDS = rf"(?:{_COUNT} )?hundred\b(?: (?:and )?{_BELOW_HUNDRED}\b)?"
_WRITTEN = (
    rf"(?:(?:{_COUNT} )?thousand\b(?: (?:and )?(?:{_HUNDREDS}|{_BELOW_HUNDRED}\b))?|{_HUNDREDS}"
    rf"|{_BELOW_HUNDRED})"
)
"""Numbers in words; small ones alone are rather counts of things ("for two")."""
_HAS_NUMBER = re.compile(rf"\d|\b{_WRITTEN}\b", re.I)
_MONEY_WORDS = r"(?:us ?dollars?|dollars?|bucks|euros?|pounds?|quid|usd|eur|gbp|chf|francs?)"
_SIGN = r"(?:[$€£¥]|usd|eur|gbp|chf)"
_DIGITS = r"\d{1,3}(?:[.,'’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_NOT_A_UNIT = (
    r"(?![\w.,]*\d)(?!\s?-?\s?(?:kg|g|grams?|lbs?|oz|ounces?|cm|mm|m|km|miles?|inch(?:es)?|in\b(?! stock)"
    r"|ft|feet|foot|"
    r"litres?|liters?|l|ml|cl|people|persons?|men|adults?|kids|guests|players|w|watts?|v|volts?|a|amps?"
    r"|mah|gb|tb|mb|"
    r"mhz|ghz|hz|years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|percent|degrees?|pieces?|pcs?"
    r"|pages?|ppm|dpi|"
    r"mp|megapixels?|cups?|slots?|ports?|cores?|seats?|seaters?|lumens?|denier|tog|pack|packs|x)\b"
    r"|\s?[%°\"″'])"
)


def _amount(name: str) -> str:
    return (
        rf"(?:(?P<{name}_sign>{_SIGN})\s?)?(?P<{name}>{_DIGITS}|{_WRITTEN}\b)(?P<{name}_k>k\b)?"
        rf"{_NOT_A_UNIT}(?:\s?(?P<{name}_unit>{_MONEY_WORDS}\b|[$€£]))?"
    )


_BELOW = (
    r"(?:(?:that |which )?(?:is |are |costs? |costing |priced )?(?:(?:at|for) )?(?:under|below|less than"
    r"|cheaper than|lower than|up to"
    r"|at most|no more than|not more than|not over|not above|nothing (?:over|above|more than)|no higher than"
    r"|maximum(?: of)?|max\.?|within|beneath"
    r"|doesn'?t cost more than"
    r"|(?:with )?(?:a |my |our )?budget(?: is| of| under)?|unter|bis(?: zu)?|h[öo]chstens|moins de"
    r"|menos de|hasta)|<=?)"
)
_ABOVE = (
    r"(?:(?:is |are |costs? |costing |priced )?(?:(?:at|for) )?(?:over|above|more than|at least"
    r"|no less than|not under|minimum(?: of)?"
    r"|min\.?|starting (?:at|from)|upwards of|exceeding|[üu]ber|ab|mindestens|plus de|m[áa]s de)|>=?)"
)
_NOT_AN_AGE = r"(?<!kids )(?<!children )(?<!toddlers )(?<!babies )"
_NOT_A_HIGH_AGE = r"(?<!women )(?<!men )(?<!people )(?<!those )(?<!adults )(?<!anyone )(?<!someone )"

_FROM = r"(?:between|betwen|beetween|betwee?een|bewteen|from)"
_BETWEEN = re.compile(
    rf"(?:\b(?:priced? |costing )?(?P<cue>{_FROM}|zwischen|entre)\s+){_amount('low')}\s*"
    rf"(?:and|to|-|–|und|bis|et|y)\s*{_amount('high')}",
    re.I,
)
_SHARED_SCALE = re.compile(
    rf"\b{_FROM}\s+(?P<low>{_UNIT})\s*(?:and|to|-|–)\s*(?P<high>{_UNIT})\s+(?P<scale>hundred|thousand)\b",
    re.I,
)
"""\"between three and five hundred\" names the hundreds once."""
_DASHED = re.compile(rf"(?<![\w.]){_amount('low')}\s?(?:-|–|to)\s?{_amount('high')}(?![\w/])", re.I)
_UNDER = re.compile(
    rf"{_NOT_AN_AGE}(?<![\w]){_BELOW}\s*(?:about |around |of |a price of )?{_amount('high')}", re.I
)
_OVER = re.compile(rf"{_NOT_AN_AGE}{_NOT_A_HIGH_AGE}(?<![\w]){_ABOVE}\s*{_amount('low')}", re.I)
_OR_LESS = re.compile(
    rf"(?<![\w.]){_amount('high')}\s+(?:or|and) (?:less|under|below|cheaper)\b(?!\s*\W?\s*\d)", re.I
)
_OR_MORE = re.compile(
    rf"(?<![\w.]){_amount('low')}\s*(?:\+(?!\w)|(?:or|and) (?:more|over|above|up|upwards)\b)", re.I
)
_ABOUT = re.compile(
    rf"\b(?:around|about|approximately|roughly|approx\.?|circa|ca\.?|etwa|~)\s*{_amount('middle')}", re.I
)
_FOR = re.compile(rf"\b(?:for|at)\s+{_amount('high')}(?: each| per piece| tops| max)?", re.I)

_BARE = re.compile(rf"(?<![\w.]){_amount('high')}(?: tops\b| max\b)?", re.I)
"""An amount of money alone is what the shopper means to spend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLimits:
    """The limits a sentence sets, None open, and where; `lower` above `upper` contradicts itself."""

    lower: float | None = None
    upper: float | None = None
    spans: tuple[tuple[int, int], ...] = ()


def find_price_limits(text: str) -> PriceLimits:
    """Return the price limits of a sentence, both None where it sets none."""
    if not _HAS_NUMBER.search(text):
        return PriceLimits()
    lower: float | None = None
    upper: float | None = None
    spans: list[tuple[int, int]] = []
    remaining = text
    shared = _SHARED_SCALE.search(text)
    if shared is not None:
        scale = _SCALES[shared["scale"].lower()]
        lower, upper = (float(_UNITS[shared[name].lower()] * scale) for name in ("low", "high"))
        spans.append(shared.span())
        remaining = f"{text[: shared.start()]}{' ' * len(shared.group())}{text[shared.end() :]}"
    for pattern, needs_money in (
        (_BETWEEN, False),
        (_DASHED, True),
        (_OR_LESS, False),
        (_OR_MORE, True),
        (_UNDER, False),
        (_OVER, False),
        (_ABOUT, True),
        (_FOR, True),
        (_BARE, True),
    ):
        if pattern is _BARE and spans:
            continue
        match = pattern.search(remaining)
        if match is None or (needs_money and not _names_money(match)):
            continue
        groups = match.groupdict()
        if groups.get("middle"):
            middle = _value(match, "middle")
            lower, upper = middle * (1 - APPROXIMATELY), middle * (1 + APPROXIMATELY)
        if groups.get("low"):
            lower = _value(match, "low")
        if groups.get("high"):
            upper = _value(match, "high")
        spans.append(match.span())
        remaining = (
            remaining[: match.start()] + " " * (match.end() - match.start()) + remaining[match.end() :]
        )
    return PriceLimits(lower=_tidy(lower), upper=_tidy(upper), spans=tuple(spans))


def _names_money(match: re.Match[str]) -> bool:
    return any(
        value
        for name, value in match.groupdict().items()
        if name.endswith(("_sign", "_unit")) and value is not None
    )


def _value(match: re.Match[str], name: str) -> float:
    text = match.group(name).casefold()
    number = _parse_number(text) if text[0].isdigit() else _written_number(text)
    return number * 1000 if match.group(f"{name}_k") else number


def _written_number(text: str) -> float:
    """Read "a hundred and twenty" and "two thousand five hundred": a scale multiplies what is before it."""
    whole, part = 0, 0
    for word in re.split(r"[- ]+", text):
        if word == "thousand":
            whole, part = (part or 1) * 1000, 0
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            part += _UNITS.get(word) or _TENS.get(word) or _TEENS.get(word) or 0
    return float(whole + part)


def _parse_number(text: str) -> float:
    """Read "1,299.50", "1.299,50" and "19,99" alike: a mark before one or two last digits is the decimal."""
    plain = re.sub(r"['’]", "", text)
    decimal = re.search(r"[.,](\d{1,2})$", plain)
    whole = re.sub(r"[.,]", "", plain[: decimal.start()] if decimal else plain)
    return float(f"{whole}.{decimal.group(1)}" if decimal else whole)


def _tidy(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
