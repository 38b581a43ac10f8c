"""Answers a question about shown products from their own data, and says so where the data says nothing.

Nothing is concluded: what a description says of a word is quoted, so that "not waterproof" is never a yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from search_proxy.models import Document
from worker.planning.catalog_roles import plain_name
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, words_of
from worker.planning.thread_demands import kinds_of
from worker.planning.thread_question_kinds import MAX_COMPARED, Question

MAX_LISTED = 12
MAX_QUOTED_CHARACTERS = 300
_STEM = 5
"""Letters that two forms of a word share: "wash" and "washed" do, "washable" and "washing" too."""

_MEASURES = re.compile(
    r"\b(?:height|width|length|depth|diameter|volume|capacity|persons|people|size)\b|\b(?:cm|mm|ml|l|inch)$"
)
_CANNOT_TELL = "I cannot tell"
_SAYS_NOTHING_OF_A_PRODUCT = re.compile(r"\b(?:id|at|date|stock|count|price|rank|position|score)$")


def needs_variants(question: Question) -> bool:
    """Return whether the answer is about all variants of the product."""
    return question.asked in ("colours", "sizes", "stock")


def answer_question(
    question: Question, documents: Sequence[Document], variants: Sequence[Document], vocabulary: Vocabulary
) -> str:
    """Return the answer in words; `variants` are those of the first product, itself included."""
    shown = documents[:MAX_COMPARED]
    if question.asked == "differences":
        return _differences(shown, vocabulary)
    return " ".join(_about(question, each, variants, vocabulary) for each in shown)


def can_answer(question: Question, document: Document, vocabulary: Vocabulary) -> bool:
    """Return whether a product's own data answers a question."""
    return _CANNOT_TELL not in answer_question(question, [document], [document], vocabulary)


def title_of(document: Document) -> str:
    """Return what a product is called."""
    return str(document.get("productTitle") or document.get("variantTitle") or document.get("_id"))


def _about(
    question: Question, document: Document, variants: Sequence[Document], vocabulary: Vocabulary
) -> str:
    title, roles = title_of(document), vocabulary.roles
    match question.asked:
        case "price":
            price = _price(document, roles.price)
            return f"{title} costs {price}." if price else _says_nothing(title, "its price")
        case "stock":
            return _stock(document, variants, vocabulary)
        case "colours":
            # The last field has the finest names: "navy blue" rather than "blue".
            return _listed(title, "comes in", "its colour", _values(variants, roles.colours[-1:]))
        case "sizes":
            sizes = _values(variants, roles.sizes[:1]) or _measures(document)
            return _listed(title, "comes in", "its size", sizes)
        case "material":
            return _listed(title, "is made of", "its material", _values([document], roles.materials))
        case "brand":
            return _listed(title, "is made by", "its maker", _values([document], roles.brands[:1]))
        case "weight":
            return _words(document, ("weight",), "its weight", vocabulary)
        case "rating":
            rating = document.get(roles.rating) if roles.rating else None
            return _says_nothing(title, "its rating") if rating is None else f"{title} is rated {rating}."
        case "description":
            text = str(document.get("description") or "")
            return f"{title}: {_cut(text)}" if text else f"Here is {title}."
        case _:
            return _words(document, question.words, f"“{' '.join(question.words)}”", vocabulary)


def _price(document: Document, name: str | None) -> str | None:
    price = document.get(name) if name else None
    if not isinstance(price, int | float) or isinstance(price, bool):
        return None
    currency = document.get("currency")
    return f"{price:.2f} {currency}" if isinstance(currency, str) else f"{price:.2f}"


def _stock(document: Document, variants: Sequence[Document], vocabulary: Vocabulary) -> str:
    title, roles = title_of(document), vocabulary.roles
    if roles.stock is None or document.get(roles.stock.name) is None:
        return _says_nothing(title, "its stock")
    if _is_there(document[roles.stock.name]):
        left = document[roles.stock.name]
        is_counted = isinstance(left, int) and not isinstance(left, bool)
        return f"{title} is in stock, {left} of it." if is_counted else f"{title} is in stock."
    others = [each for each in variants if _is_there(each.get(roles.stock.name))]
    names = list(
        dict.fromkeys(" ".join(_values([each], (*roles.colours[-1:], *roles.sizes[:1]))) for each in others)
    )
    instead = f", but there is {', '.join(names[:MAX_LISTED])}" if any(names) else ""
    return f"{title} is sold out{instead}."


def _is_there(value: Any) -> bool:
    if isinstance(value, str):
        return value.casefold() in ("true", "yes", "in stock", "in_stock", "instock")
    return bool(value)


def _words(document: Document, words: Sequence[str], called: str, vocabulary: Vocabulary) -> str:
    title = title_of(document)
    stems = [tuple(kind[:_STEM] for kind in kinds_of(singular(word))) for word in words]
    for name, value in document.items():
        is_number = isinstance(value, int | float) and name != vocabulary.roles.price
        if is_number and _says(plain_name(name), stems[-1:]):
            return f"{title}: {plain_name(name)} {_plain_value(value)}."
    quoted = next((part for part in _sayings(document, vocabulary) if _says(part, stems)), None)
    return _says_nothing(title, called) if quoted is None else f"About {title} it says: “{_cut(quoted)}”"


def _sayings(document: Document, vocabulary: Vocabulary) -> Iterable[str]:
    """Yield what a product says of itself: its sentences, its title, its attributes by name."""
    yield from re.split(r"(?<=[.!?])\s+", str(document.get("description") or ""))
    yield title_of(document)
    for name, value in document.items():
        if name in vocabulary.choices:
            yield from (f"{plain_name(name)}: {item}" for item in _values([document], (name,)))
        elif isinstance(value, bool):
            yield f"{plain_name(name)}: {_plain_value(value)}"


def _measures(document: Document) -> list[str]:
    """Return what a product's fields measure in length, volume or people."""
    return [
        f"{plain_name(name)} {_plain_value(value)}"
        for name, value in document.items()
        if isinstance(value, int | float) and _MEASURES.search(plain_name(name)) is not None
    ]


def _says(text: str, stems: Sequence[tuple[str, ...]]) -> bool:
    known = words_of(text.replace("-", " "))
    return all(any(word.startswith(kinds) for word in known) for kinds in stems)


def _differences(documents: Sequence[Document], vocabulary: Vocabulary) -> str:
    if len(documents) < 2:
        return f"There is only {title_of(documents[0])} to look at." if documents else ""
    costs = [_price(each, vocabulary.roles.price) for each in documents]
    lines = [
        f"{title_of(each)} costs {cost}" if cost else title_of(each)
        for each, cost in zip(documents, costs, strict=True)
    ]
    apart: list[str] = []
    for name in dict.fromkeys(name for each in documents for name in each):
        values = [each.get(name) for each in documents]
        plain = ["–" if value is None else _plain_value(value) for value in values]
        is_short = all(len(text) <= 60 for text in plain)
        if _can_differ(name, values, vocabulary) and is_short and len(set(plain)) > 1:
            apart.append(f"{plain_name(name)} ({' / '.join(plain)})")
    differ = f" They differ in {', '.join(apart[:MAX_LISTED])}." if apart else ""
    return f"{'; '.join(lines)}.{differ}"


def _can_differ(name: str, values: Sequence[Any], vocabulary: Vocabulary) -> bool:
    if name == vocabulary.roles.price or name.startswith("_"):
        return False
    numeric = all(isinstance(value, int | float | None) for value in values)
    return name in vocabulary.choices or (
        numeric and _SAYS_NOTHING_OF_A_PRODUCT.search(plain_name(name)) is None
    )


def _listed(title: str, verb: str, what: str, values: Sequence[str]) -> str:
    return f"{title} {verb} {', '.join(values[:MAX_LISTED])}." if values else _says_nothing(title, what)


def _says_nothing(title: str, what: str) -> str:
    return f"{_CANNOT_TELL}: {title} says nothing of {what}."


def _values(documents: Iterable[Document], names: Sequence[str]) -> list[str]:
    values = [document.get(name) for document in documents for name in names]
    parts = [part for value in values for part in (value if isinstance(value, list) else [value])]
    found = [part for part in parts if isinstance(part, str) and part]
    return list(dict.fromkeys(found))


def _plain_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= MAX_QUOTED_CHARACTERS:
        return text
    return f"{text[:MAX_QUOTED_CHARACTERS].rsplit(' ', 1)[0]} …"
