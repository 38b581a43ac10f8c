"""Writes labels that a shopper clicks: "Toner Cartridges", "Leather Belts", "Mugs Under €20"."""

from __future__ import annotations

import re

from worker.planning.catalog_words import word_set

MAX_LABEL_CHARACTERS = 60

_ACRONYMS = word_set(
    """ac av bbq cd cpu diy dj dvd dvi gps hd hdd hdmi hp id kvm lan lcd led nas pc pci pda pdu psu ram rgb
    sas sata sd sim ssd tv uhd ups usb utp uv vga vr wlan xl xxl bb"""
)
_SMALL = word_set("""a an and at by for from in of on or the to with""")
_NO_PLURAL = word_set(
    """accessories apparel art bakery beauty bedding camping care china christmas clothing coffee cookware
    cutlery dairy decor decorative dinnerware drinkware easter electronics equipment fishing floral food
    footwear formal furniture gear grooming halloween hardware homedecor homeware houseware jewellery
    jewelry kitchen kitchenware lego lighting linen luggage makeup media meat memory merchandise music
    outdoors outerwear paper percussion photography protection salon seafood seasonal seating sleepwear
    software sportswear storage strings stationery swimwear tableware tea textile underwear valentine
    video wear wind wool mpeg audio film bathing cooking travel pet fruit produce bedroom living outdoor
    indoor sushi hosiery knitwear denim"""
)
_IRREGULAR = {
    "mouse": "mice",
    "foot": "feet",
    "child": "children",
    "person": "people",
    "man": "men",
    "woman": "women",
}


def category_label(value: str) -> str:
    """Return a category's value as a label: the last step of a path, title-cased, plural."""
    name = re.split(r"\s*(?:>|»|::|\|)\s*", value.strip())[-1] or value.strip()
    if name.count("/") > 1:
        name = name.rsplit("/", 1)[-1]
    return clip(plural(title_case(name.split(", ")[0])))


def value_label(value: str) -> str:
    """Return an attribute's value as part of a label, in the singular that it has."""
    return title_case(value.strip())


def title_case(text: str) -> str:
    """Return text with capitals where a heading has them, acronyms and mixed case as they are."""
    words = re.sub(r"[_\s]+", " ", text).strip().split(" ")
    return " ".join(_capital(word, first=index == 0) for index, word in enumerate(words))


def plural(label: str) -> str:
    """Return the plural of a label whose last word is a countable English noun in the singular."""
    head, gap, last = label.rpartition("-" if "-" in label.rsplit(" ", 1)[-1] else " ")
    word = last.lower()
    if (
        not last.isascii()
        or not last.isalpha()
        or len(last) < 3
        or (last.isupper() and len(last) > 3)
        or word in _NO_PLURAL
        or word.endswith(("s", "ing", "wear", "ware", "ics", "men", "sheep", "ium"))
    ):
        return label
    if word in _IRREGULAR:
        last = last[0] + _IRREGULAR[word][1:]
    elif word.endswith("y") and word[-2] not in "aeiou":
        last = last[:-1] + "ies"
    elif word.endswith(("ch", "sh", "x", "z")):
        last += "es"
    elif word in {"knife", "shelf", "scarf", "loaf", "leaf", "half"}:
        last = (last[:-2] if word.endswith("fe") else last[:-1]) + "ves"
    else:
        last += "s"
    return f"{head}{gap}{last}"


def is_countable(name: str) -> bool:
    """Say whether a category's name ends in a noun with a plural: "cartridge", not "Floral"."""
    words = name.casefold().split()
    return (
        bool(words) and words[-1] not in _NO_PLURAL and not words[-1].endswith(("ing", "wear", "ware", "ics"))
    )


def money(amount: float, currency: str | None) -> str:
    """Return an amount as a shopper reads it: "€20", "20 CHF", "20" where the currency is unknown."""
    number = f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.2f}"
    sign = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}.get((currency or "").upper())
    if sign:
        return f"{sign}{number}"
    return f"{number} {currency}" if currency else number


def clip(label: str) -> str:
    """Return a label of at most `MAX_LABEL_CHARACTERS`, cut between words."""
    if len(label) <= MAX_LABEL_CHARACTERS:
        return label
    return label[: MAX_LABEL_CHARACTERS + 1].rsplit(" ", 1)[0][:MAX_LABEL_CHARACTERS]


def _capital(word: str, *, first: bool) -> str:
    if word.lower() in _ACRONYMS:
        return word.upper()
    if "-" in word and word[0].isupper():
        return "-".join(part[:1].upper() + part[1:] for part in word.split("-"))
    if any(character.isupper() for character in word):
        return word if not (word.isupper() and len(word) > 4 and word.isalpha()) else word.capitalize()
    if word in _SMALL and not first:
        return word
    parts = re.split(r"([-/(])", word)
    return "".join(part.upper() if part in _ACRONYMS else part[:1].upper() + part[1:] for part in parts)
