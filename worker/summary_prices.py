"""Finds prices in a text and takes out those that nothing shown has.

An amount counts as a price when a currency stands beside it. The amounts of the shopper's own query may
be repeated ("under $50"), and a number that can be read two ways ("1.299") is known if either reading is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

_SIGN = r"(?:US|CA|AU|NZ|HK)?\$|[€£¥₹₩₽฿₺]"
_CODE = r"USD|EUR|GBP|JPY|CAD|AUD|NZD|CHF|INR|CNY|SEK|NOK|DKK|PLN|CZK|BRL|MXN|TRY"
_CODES = frozenset(_CODE.split("|"))
_WORD = r"dollars?\b|euros?\b|pounds?\b(?! of)|bucks\b|yen\b|rupees\b|z\u0142|kr\b|\u5143|\u5186"
_NUMBER = r"\d{1,3}(?:[,.'\u00a0]\d{3}){1,3}(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?"
_MORE = rf"(?:\s?[-\u2013\u2014]\s?(?:{_SIGN})?(?:{_NUMBER}))?"
_PRICE = re.compile(
    rf"(?:(?:{_SIGN})\s?|\b(?:{_CODE})\s)(?:{_NUMBER}){_MORE}"
    rf"|(?<![\w.,])(?:{_NUMBER}){_MORE}\s?(?:{_SIGN}|\b(?:{_CODE})\b|(?:{_WORD}))",
    re.IGNORECASE,
)
_AMOUNT = re.compile(_NUMBER)
_UNFINISHED = re.compile(rf"(?:\d|{_SIGN}|\b(?:{_CODE}))\s?[-\u2013\u2014]?\Z", re.IGNORECASE)
_ENDS_WITH_WORD = re.compile(rf"(?!(?:{_CODE})\Z)[a-z]{{3}}\Z|[.!?,;]\Z", re.IGNORECASE)
"""An end that no price goes on from, found much sooner than that it is none of the others."""
_REPLACEMENT = {"en": "(see price)"}
_REPLACEMENT_ELSEWHERE = "\u2026"


class PriceCheck:
    """Knows which prices may be named."""

    def __init__(self, prices: Iterable[float], *, query: str = "", locale: str = "en") -> None:
        self._known = {round(price * 100) for price in prices}
        for amount in _AMOUNT.findall(query):
            self._known |= _readings(amount)
        self._replacement = _REPLACEMENT.get(locale.lower()[:2], _REPLACEMENT_ELSEWHERE)

    def neutralise(self, text: str) -> tuple[str, int]:
        """Return the text with every unknown price replaced, and how many there were."""
        unknown = 0

        def replaced(price: re.Match[str]) -> str:
            nonlocal unknown
            if all(self._known & _readings(amount) for amount in _AMOUNT.findall(price[0])):
                return price[0]
            unknown += 1
            return self._replacement

        return _PRICE.sub(replaced, text), unknown

    def may_continue(self, text: str) -> bool:
        """Return whether what follows `text` may belong to a price that ends it."""
        tail = text[-12:]
        last = tail[-1:]
        if last.isascii() and last.isalpha() and tail[-3:].upper() not in _CODES:
            return False
        return not _ENDS_WITH_WORD.search(tail) and _UNFINISHED.search(tail) is not None


def _readings(amount: str) -> set[int]:
    """Return what an amount can mean, in hundredths."""
    plain = amount.replace("'", "").replace("\u00a0", "")
    forms = {plain.replace(",", ""), plain.replace(".", "").replace(",", ".")}
    return {round(Decimal(form) * 100) for form in forms if form.count(".") <= 1}
