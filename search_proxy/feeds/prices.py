"""Prices as feeds write them: `49.95`, `15.00 USD`, `€ 1.299,00`, `1,299.00`."""

from __future__ import annotations

import math
import re
from typing import Any

from search_proxy.feeds.records import Refused, quoted

CURRENCIES = frozenset(
    (
        *("AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR"),
        *("GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KRW", "MXN", "MYR", "NGN", "NOK", "NZD"),
        *("PEN", "PHP", "PLN", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD"),
        *("VND", "ZAR"),
    )
)
"""Currencies that a column name or a price text may name; a `currency` column may name any."""

_SYMBOLS = {"€": "EUR", "$": "USD", "US$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "zł": "PLN", "₩": "KRW"}
_PARTS = re.compile(
    r"(?P<before>[^\d+\-.,]*)(?P<number>[+\-]?[\d.,'\s]*\d[\d.,]*(?:[eE][+\-]?\d+)?)(?P<after>\D*)"
)
_GROUPED = re.compile(r"[+\-]?\d{1,3}(?:[.,]\d{3})+")
_GROUP_BLANK = re.compile(r"(?<=\d)[\s'](?=\d{3}(?!\d))")


def read_price(field: str, value: Any) -> tuple[float, str | None]:
    """Return the price in major units, and the currency where the value names one.

    Raises:
        Refused: It is no number, negative, NaN or infinite.
    """
    if isinstance(value, str):
        amount, currency = _from_text(field, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        amount, currency = float(value), None
    else:
        raise Refused("bad_price", field, f"price must be a number, found {quoted(value)}")
    if not math.isfinite(amount):
        raise Refused("bad_price", field, f"price must be finite, found {quoted(value)}")
    if amount < 0:
        raise Refused("bad_price", field, f"price must not be negative, found {quoted(value)}")
    return amount + 0.0, currency


def _from_text(field: str, text: str) -> tuple[float, str | None]:
    if text.strip().casefold().lstrip("+-") in ("nan", "inf", "infinity"):
        raise Refused("bad_price", field, f"price must be finite, found {quoted(text)}")
    parts = _PARTS.fullmatch(text.strip()) if len(text) <= 100 else None
    symbols = (
        [] if parts is None else [part.strip() for part in (parts["before"], parts["after"]) if part.strip()]
    )
    currencies = [_SYMBOLS.get(symbol, symbol.upper()) for symbol in symbols]
    if parts is None or len(currencies) > 1 or not CURRENCIES.issuperset(currencies):
        raise Refused("bad_price", field, f"price must be a number such as 49.95, found {quoted(text)}")
    try:
        return float(_plain(parts["number"])), next(iter(currencies), None)
    except ValueError:
        raise Refused(
            "bad_price", field, f"price must be a number such as 49.95, found {quoted(text)}"
        ) from None


def _plain(number: str) -> str:
    # The last of two different marks is the decimal one; a single comma is, unless three digits follow it.
    number = _GROUP_BLANK.sub("", number)
    point, comma = number.rfind("."), number.rfind(",")
    if point != -1 and comma != -1:
        return number.replace("," if point > comma else ".", "").replace(",", ".")
    if comma != -1 or number.count(".") > 1:
        return number.replace(number[max(comma, point)], "" if _GROUPED.fullmatch(number) else ".")
    return number
