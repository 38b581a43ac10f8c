"""Finds which shown product a sentence means: "the second one", "number 3", "that one", "the red one".

An ordinal counts only where it stands for a product; "first aid kit" and "second hand" are things to
search. Positions are those of the last page, in display order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from worker.planning.catalog_lexicon import FILLER
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_products import ShownProduct
from worker.planning.thread_state import ThreadState

_ORDINAL_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_CARDINAL_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = {word: number for number, word in enumerate(_ORDINAL_WORDS.split(), start=1)}
_CARDINALS = {word: number for number, word in enumerate(_CARDINAL_WORDS.split(), start=1)}
_ORDINAL = (
    rf"(?P<ordinal>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)|last|final"
    rf"|bottom|top)"
)
_FROM_END = r"(?P<from_end>second(?:[- ]to[- ]|[- ])last|next[- ]to[- ]last|penultimate|last but one)"
_THING = (
    r"(?:one|item|product|option|result|pick|choice|suggestion|pair|article|of (?:these|those"
    r"|them|the list))"
)
_AFTER = (
    r"(?=\s*(?:$|[,.?!;:)]|(?:and|or|but|please|looks?|seems?|is|was|in|on|instead|then|you"
    r"|with|without|from|under|over|only"
    r"|costs?|has|have|a bit|does|do|again|better|for|not|cheaper|made|available|too|also)\b))"
)
_COUNTED = re.compile(
    rf"\b(?:the )?(?P<end>first|top|last) (?P<count>two|three|four|five|six|2|3|4|5"
    rf"|6)\b(?: {_THING}s?)?{_AFTER}",
    re.I,
)
_BY_NUMBER = re.compile(
    r"(?:\b(?:number|no\.?|nr\.?|option|item|product|result|choice)\s?|#\s?)"
    rf"(?P<number>\d{{1,2}}|{'|'.join(_CARDINALS)})\b(?! ?(?:pieces?|pack|people))"
    r"|^\W*(?P<bare>\d{1,2})\W*$",
    re.I,
)
_BY_ORDINAL = re.compile(
    rf"\b(?:the |that |this |your )?(?:{_FROM_END}|(?:very )?{_ORDINAL}) {_THING}\b"
    rf"|\b(?:the|that|this|your) (?:{_FROM_END.replace('from_end', 'from_end_2')}"
    rf"|(?:very )?{_ORDINAL.replace('ordinal', 'ordinal_2')}){_AFTER}"
    rf"|^\W*(?:{_ORDINAL.replace('ordinal', 'ordinal_3')})\W*$",
    re.I,
)
_BY_QUESTION = re.compile(
    rf"(?:(?<=^is )|(?<=^are )|(?<=^was )|(?<=^has )|(?<=^does )|(?<=^can )|(?<=^will ))the {_ORDINAL}\b",
    re.I,
)
_BY_NOUN = re.compile(
    r"\b(?:the|that|this|your) (?:very )?(?P<ordinal>first|second|third|fourth|fifth|sixth|seventh|eighth"
    r"|last"
    r"|\d{1,2}(?:st|nd|rd|th)) (?P<noun>[a-z][\w'-]*(?: [a-z][\w'-]*){0,2})",
    re.I,
)
_BY_PRICE = re.compile(
    rf"\b(?:which (?:one|of (?:these|those|them)) (?:is|costs) )?(?:the )?"
    rf"(?P<which>cheapest|least expensive|most expensive|dearest|priciest)"
    rf"(?: (?:{_THING}|among (?:these|those|them))\b|\s*\?*$)",
    re.I,
)
_BY_AMOUNT = re.compile(
    r"\b(?:the|that) (?:one|pair) (?:for|at|that costs|costing) [$€£]?\s?(?P<for>\d+(?:[.,]\d{1,2})?)(?!\d)"
    r"|\b(?:the|that) [$€£]?\s?(?P<amount>\d+(?:[.,]\d{1,2})?)[$€£]? (?:dollar |euro |pound )?one\b"
)
_STEP = re.compile(r"\bthe (?P<step>next|previous|other) one\b", re.I)
_POINTED = re.compile(r"\b(?:(?:that|this) (?:one|product|item)|it|its)\b", re.I)
_BY_NAME = re.compile(r"\b(?:that|this) (?P<name>[\w'’&-]+(?: [\w'’&-]+){0,3})", re.I)
_BY_WORDS = re.compile(
    r"\b(?:the|that|this) (?P<words>[\w'’&-]+(?: [\w'’&-]+){0,3}?) (?:one|pair)\b"
    r"|\bthe one (?:from|by|in|made of|of|with) (?P<words_2>[\w'’&-]+(?: [\w'’&-]+)?)",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The products meant, where the sentence said so, and whether a position does not exist."""

    products: tuple[ShownProduct, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    missing: str | None = None


def find_references(text: str, state: ThreadState) -> References:
    """Return the shown products that a sentence names by position, price or look."""
    if not state.shown:
        return References()
    products: list[ShownProduct] = []
    spans: list[tuple[int, int]] = []
    missing: str | None = None
    for counted in _COUNTED.finditer(text):
        count = _CARDINALS.get(counted["count"]) or int(counted["count"])
        products += state.shown[-count:] if counted["end"] == "last" else state.shown[:count]
        spans.append(counted.span())
    for pattern in (_BY_ORDINAL, _BY_NUMBER, _BY_QUESTION):
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in spans):
                continue
            index = _index(match, len(state.shown))
            spans.append(match.span())
            if -len(state.shown) <= index < len(state.shown):
                products.append(state.shown[index])
            else:
                missing = match.group().strip()
    for match in _BY_NOUN.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in spans):
            continue
        index = _index(match, len(state.shown))
        nouns = _nouns(match["noun"], state)
        if nouns and not -len(state.shown) <= index < len(state.shown):
            missing = match.group()[: match.start("noun") - match.start() + nouns]
        elif nouns:
            products.append(state.shown[index])
            spans.append((match.start(), match.start("noun") + nouns))
    for match in _BY_AMOUNT.finditer(text):
        costing = _costing(match["for"] or match["amount"], state)
        if costing is not None:
            products.append(costing)
            spans.append(match.span())
    for match in (*_BY_PRICE.finditer(text), *_STEP.finditer(text)):
        found = _by_price(match, state) if "which" in match.groupdict() else _step(match["step"], state)
        if found is not None:
            products.append(found)
            spans.append(match.span())
    if not spans:
        for match in _BY_WORDS.finditer(text):
            named = _by_words(match["words"] or match["words_2"], state)
            if named is not None:
                products.append(named)
                spans.append(match.span())
        for match in _BY_NAME.finditer(text) if not spans else ():
            named = _by_name(match["name"], state)
            if named is not None:
                products.append(named)
                spans.append(match.span())
    return References(products=tuple(dict.fromkeys(products)), spans=tuple(spans), missing=missing)


def find_pointed(text: str, state: ThreadState) -> References:
    """Return the product that "it" or "that one" means: the one that the last turn was about, if any."""
    focus = state.focus or (state.shown[0] if len(state.shown) == 1 else None)
    matches = list(_POINTED.finditer(text))
    if focus is None or not matches:
        return References()
    return References(products=(focus,), spans=tuple(match.span() for match in matches))


def _index(match: re.Match[str], shown: int) -> int:
    groups = match.groupdict()
    number_word = groups.get("number") or groups.get("bare")
    if number_word:
        return _place(_CARDINALS.get(number_word) or int(number_word), shown)
    if groups.get("from_end") or groups.get("from_end_2"):
        return -2
    word = groups.get("ordinal") or groups.get("ordinal_2") or groups.get("ordinal_3") or ""
    if word in {"last", "final", "bottom"}:
        return -1
    if word == "top":
        return 0
    return _place(_ORDINALS.get(word) or int(re.sub(r"\D", "", word)), shown)


def _place(number: int, shown: int) -> int:
    """Return the index of a position; "number 0" is none of them, not the last."""
    return number - 1 if number else shown


def _by_price(match: re.Match[str], state: ThreadState) -> ShownProduct | None:
    priced = [product for product in state.spoken or state.shown if product.price is not None]
    if not priced:
        return None
    cheapest = match["which"] in {"cheapest", "least expensive"}
    chosen = min if cheapest else max
    return chosen(priced, key=lambda product: product.price or 0.0)


def _costing(amount: str, state: ThreadState) -> ShownProduct | None:
    """Return the product of that price; people leave the cents out."""
    said = float(amount.replace(",", "."))
    priced = ((each, each.price) for each in state.shown if each.price is not None)
    return next((each for each, price in priced if said in (price, int(price), round(price))), None)


def _step(step: str, state: ThreadState) -> ShownProduct | None:
    if state.focus not in state.shown or state.focus is None:
        return None
    if step == "other":
        others = [each for each in state.spoken or state.shown if each != state.focus]
        return others[0] if len(others) == 1 else None
    index = state.shown.index(state.focus) + (1 if step == "next" else -1)
    return state.shown[index] if 0 <= index < len(state.shown) else None


def _nouns(text: str, state: ThreadState) -> int:
    """Return how far a text names what was shown: "tent" of "tent you showed" after tents."""
    end = 0
    known = {singular(word) for word in words_of(state.query)}
    for product in state.shown:
        names = (product.title, product.category or "", product.kind or "")
        known.update(singular(word) for word in words_of(" ".join(names)))
    for match in re.finditer(r"\S+", text):
        if singular(match.group()) not in known:
            break
        end = match.end()
    return end


def _by_name(text: str, state: ThreadState) -> ShownProduct | None:
    """Return the one product that a name fits, or of several the one that the last turn was about."""
    words = [singular(word) for word in words_of(text)]
    if not words or words[0] in FILLER:
        return None
    fitting = [product for product in state.shown if set(words) <= _own_words(product)]
    return fitting[0] if len(fitting) == 1 else next((each for each in fitting if each == state.focus), None)


def _own_words(product: ShownProduct) -> set[str]:
    return {singular(word) for word in words_of(" ".join((product.title, *product.attributes)))}


def _by_words(words: str, state: ThreadState) -> ShownProduct | None:
    wanted = [singular(word) for word in words_of(words) if word not in FILLER]
    if not wanted:
        return None
    for product in state.shown:
        if _own_words(product).issuperset(wanted):
            return product
    return None
