"""Finds prices in a text and takes out those that nothing shown has.

An amount counts as a price when a currency stands beside it, whatever emphasis stands between. The amounts of
the shopper's own query may be repeated ("under $50"), and a number that can be read two ways ("1.299") is
known if either reading is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

SIGNS = "$€£¥₹₩₽฿₺₫₴₦₪₱₲₵₡₭₮₸₼₿﷼৳"
"""Currency signs that may stand beside an amount."""

_SIGN = rf"(?:US|CA|AU|NZ|HK)?\$|[{SIGNS[1:]}]"
# "Try 3 of them" is English, and no lira.
_CODE = r"(?:USD|EUR|GBP|JPY|CAD|AUD|NZD|CHF|INR|CNY|SEK|NOK|DKK|PLN|CZK|BRL|MXN|(?-i:TRY))"
_LOCAL = r"(?:kr\b|(?-i:Rs)\b)\.?"
_WORD = r"(?:US\s)?dollars?\b|euros?\b|pounds?\b(?! of)|bucks\b|yen\b|rupees\b|zł|kr\b|元|円"
_SPELLED_CURRENCY = r"(?:US\s)?dollars?|euros?|bucks|quid"
_SPACE = "\u00a0\u2007\u2009\u202f"
_GAP = rf"[ {_SPACE}*_`~]{{0,4}}"
_NUMBER = rf"\d{{1,3}}(?:[,.'’{_SPACE} ]\d{{3}}){{1,3}}(?!\d)(?:[.,]\d{{1,2}})?|\d{{1,9}}(?:[.,]\d{{1,2}})?"
_MORE = rf"(?:\s?[-–—]\s?(?:{_SIGN})?(?:{_NUMBER}))?(?:[.,][-–—]{{1,2}})?"
_PRICE = re.compile(
    rf"(?:(?:{_SIGN})|\b{_CODE}|\b{_LOCAL}){_GAP}(?:{_NUMBER}){_MORE}"
    rf"|(?<![\w.,])(?:{_NUMBER}){_MORE}{_GAP}-?(?:(?:{_SIGN})(?!\d)|\b{_CODE}\b|(?:{_WORD}))",
    re.IGNORECASE,
)
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_SPELLED = re.compile(
    rf"\b{_NUMBER_WORD}(?:[\s-](?:and\s)?{_NUMBER_WORD}){{0,7}}[\s-](?:{_SPELLED_CURRENCY})\b", re.IGNORECASE
)
_SPELLS_MONEY = re.compile(rf"\b(?:{_SPELLED_CURRENCY})\b", re.IGNORECASE)
_AMOUNT = re.compile(_NUMBER)
_BETWEEN = re.compile(rf"['’ {_SPACE}]")
_UNFINISHED = re.compile(
    rf"(?:\d[.,]?|{_SIGN}|\b{_CODE}|\b{_LOCAL}|\b{_NUMBER_WORD}(?:\sand)?|\bUS)[*_`~]{{0,3}}\s?[-–—]?\Z",
    re.IGNORECASE,
)
_ENDS_OF_WORDS = frozenset(
    {"one", "two", "ree", "our", "ive", "six", "ven", "ght", "ine", "ten", "lve", "een", "nty", "rty", "fty"}
    | {"xty", "red", "and", "us", "kr", "rs"}
    | {code.lower() for code in re.findall("[A-Z]{3}", _CODE)}
)
"""The last letters of what may begin a price: of all other words it is told at once that they do not."""
_REPLACEMENT = {"en": "(see price)"}
_REPLACEMENT_ELSEWHERE = "…"
_TAIL = 24


class PriceCheck:
    """Knows which prices may be named; `prices` are looked at when the first one is."""

    def __init__(self, prices: Iterable[float], *, query: str = "", locale: str = "en") -> None:
        self._prices, self._asked = prices, query
        self._known: set[int | float] | None = None
        self._query = query.casefold()
        self._replacement = _REPLACEMENT.get(locale.lower()[:2], _REPLACEMENT_ELSEWHERE)

    def neutralise(self, text: str) -> tuple[str, int]:
        """Return the text with every unknown price replaced, and how many there were."""
        unknown = 0

        def replaced(price: re.Match[str]) -> str:
            nonlocal unknown
            known = self._amounts()
            if all(known & _readings(amount) for amount in _AMOUNT.findall(price[0])):
                return price[0]
            unknown += 1
            return self._replacement

        def unspelled(price: re.Match[str]) -> str:
            nonlocal unknown
            # In words nobody can compare it; a shopper's own words may be repeated.
            if price[0].casefold() in self._query:
                return price[0]
            unknown += 1
            return self._replacement

        if _SPELLS_MONEY.search(text):
            text = _SPELLED.sub(unspelled, text)
        return _PRICE.sub(replaced, text), unknown

    def _amounts(self) -> set[int | float]:
        if self._known is None:
            self._known = set()
            for price in self._prices:
                self._known |= {round(price * 100)} if round(price, 2) == price else {price}
            for amount in _AMOUNT.findall(self._asked):
                self._known |= _readings(amount)
        return self._known

    def may_continue(self, text: str) -> bool:
        """Return whether what follows `text` may belong to a price that ends it."""
        tail = text[-_TAIL:]
        last = tail[-1:]
        if last.isascii() and last.isalpha():
            ending = tail[-3:].lower()
            if ending not in _ENDS_OF_WORDS and ending[1:] not in _ENDS_OF_WORDS:
                return False
        if last in ".,!?;:" and tail[-3:-1].lower() not in ("kr", "rs"):
            return False
        return _UNFINISHED.search(tail) is not None


def may_hold_price(text: str) -> bool:
    """Return whether a price can be in the text at all; most pieces of a summary hold none."""
    return (
        _DIGIT.search(text) is not None
        or "ollar" in text
        or "uro" in text
        or "bucks" in text
        or "quid" in text
    )


def splits_price(before: str, label: str) -> bool:
    """Return whether a link of that label behind `before` would stand in the middle of a price."""
    if _BEGINS.search(label) or (_BEGINS.search(before) and label.lstrip(" *_`~")[:1].isdigit()):
        return True
    return not any(map(str.isalpha, label)) and any(map(str.isdigit, label)) and not _PRICE.search(label)


_BEGINS = re.compile(rf"(?:{_SIGN}|\b{_CODE}|\b{_LOCAL})[ *_`~]*\Z", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def _readings(amount: str) -> set[int | float]:
    """Return what an amount can mean: in hundredths, or as it is where it has more than two decimals."""
    plain = _BETWEEN.sub("", amount)
    forms = {plain.replace(",", ""), plain.replace(".", "").replace(",", ".")}
    return {_value(form) for form in forms if form.count(".") <= 1}


def _value(form: str) -> int | float:
    # Three digits behind a sign are thousands, unless a product's price has as many.
    has_cents = len(form.partition(".")[2]) <= 2
    return round(Decimal(form) * 100) if has_cents else float(form)
