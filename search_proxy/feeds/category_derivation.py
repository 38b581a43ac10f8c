"""Derives a category for products whose feed has none, from their titles and type attributes.

Two passes: the first learns which words end a stretch of a title (heads) and which words stand before
them (compounds); the second gives each product the best-supported head or compound of its title. A product
without a confident one is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from search_proxy.feeds.category_titles import Stretch, is_title_word, singular, stretches
from search_proxy.feeds.category_vocabulary import CONTAINERS, MATERIALS, NEVER_HEADS
from search_proxy.models import Document

MINIMUM_MEMBERS = 3
"""A category with fewer products is no choice for a shopper."""

_BRAND_FIELDS = ("brand", "vendor", "manufacturer")
_TYPE_FIELDS = ("product_type", "productType")
_MAX_NAME_WORDS = 3
_MIN_HEADNESS = 0.3
_MIN_COMPOUND_SHARE = 0.12
_MIN_COMPOUND_SHARE_OF_CATALOG = 0.002
_AGREEMENT = 0.7
_FEW_BRANDS = 5
"""With fewer brands in the catalog, a word's brands say nothing about it."""


def derive_categories(documents: Sequence[Document], category_field: str = "category") -> dict[str, str]:
    """Return a category by `_id` for the documents that have no `category_field` and a confident title."""
    deriver = CategoryDeriver(category_field)
    deriver.learn(documents)
    return deriver.derive(documents)


@dataclass(slots=True)
class _Head:
    documents: int = 0
    ends: int = 0
    brands: set[str] = field(default_factory=set)
    occurrences: int = 0
    lower_case: int = 0


Name = tuple[str, ...]
"""A category's name as singular words, for counting."""


class CategoryDeriver:
    """Learns the names of things from titles, then names each product."""

    def __init__(self, category_field: str = "category") -> None:
        self._category_field = category_field
        self._words: dict[str, _Head] = defaultdict(_Head)
        self._pairs: Counter[Name] = Counter()
        self._triples: Counter[Name] = Counter()
        self._surfaces: dict[str, Counter[str]] = defaultdict(Counter)
        self._known: dict[Name, str] = {}
        self._brands: set[str] = set()
        self._known_members = 0
        self._types: Counter[str] = Counter()
        self._documents = 0
        self._is_mixed_case = False

    def learn(self, documents: Iterable[Document]) -> None:
        """Count heads and compounds over all titles."""
        for document in documents:
            brand = _brand(document)
            self._brands.add(brand)
            self._documents += 1
            self._types[_type(document)] += 1
            known = document.get(self._category_field)
            if isinstance(known, str) and known:
                self._known_members += 1
                self._known.setdefault(tuple(singular(word) for word in known.casefold().split()), known)
            seen: set[str] = set()
            for stretch in _stretches(document):
                self._learn_stretch(stretch, brand, seen)
        occurrences = sum(head.occurrences for head in self._words.values())
        lower_case = sum(head.lower_case for head in self._words.values())
        self._is_mixed_case = 0.1 < lower_case / max(1, occurrences) < 0.9

    def derive(self, documents: Sequence[Document]) -> dict[str, str]:
        """Return the category of each document that has none of its own, by `_id`.

        Where the merchant has categories for other products, a name that nearly always goes with one of
        them becomes that one: their own words win over ours.
        """
        chosen: dict[str, Name] = {}
        theirs: dict[Name, Counter[str]] = defaultdict(Counter)
        for document in documents:
            name = self._name(document)
            if name is None:
                continue
            known = document.get(self._category_field)
            if isinstance(known, str) and known:
                theirs[name][known] += 1
            elif not known:
                chosen[str(document["_id"])] = name
        labels = self._prune(chosen)
        taken = {name: label for name, known in theirs.items() if (label := _agreed(known)) is not None}
        return labels | {identity: taken[name] for identity, name in chosen.items() if name in taken}

    def _learn_stretch(self, stretch: Stretch, brand: str, seen: set[str]) -> None:
        words = tuple(singular(word) for word in stretch.words)
        for position, (word, surface) in enumerate(zip(words, stretch.surfaces, strict=True)):
            head = self._words[word]
            self._surfaces[word][stretch.words[position]] += 1
            head.brands.add(brand)
            head.occurrences += 1
            head.lower_case += surface.islower()
            if word not in seen:
                head.documents += 1
                head.ends += position == len(words) - 1
                seen.add(word)
            if position >= 1:
                self._pairs[words[position - 1], word] += 1
            if position >= 2:
                self._triples[words[position - 2], words[position - 1], word] += 1

    def _name(self, document: Document) -> Name | None:
        stated = _type(document)
        if stated and self._types[stated] >= MINIMUM_MEMBERS:
            return tuple(singular(word) for word in stated.split())
        candidates = [self._best_of(stretch) for stretch in _stretches(document)]
        best = max((candidate for candidate in candidates if candidate is not None), default=None)
        return None if best is None else best[1]

    def _best_of(self, stretch: Stretch) -> tuple[float, Name] | None:
        words = tuple(singular(word) for word in stretch.words)
        best: tuple[float, Name] | None = None
        for position, word in enumerate(words):
            headness = self._headness(word)
            if headness < _MIN_HEADNESS:
                continue
            name = self._compound(words[: position + 1])
            if name[-1] in CONTAINERS and len(name) == 1:
                continue
            support = self._support(name)
            if name in self._known:
                support += self._known_members
            score = headness * support**0.35 * (1.5 if len(name) > 1 else 1.0) * self._case_weight(word)
            if position == len(words) - 1 or all(word in CONTAINERS for word in words[position + 1 :]):
                score *= 1.5
            if stretch.after_preposition:
                score *= 0.3
            if best is None or score > best[0]:
                best = (score, name)
        return best

    def _headness(self, word: str) -> float:
        head = self._words.get(word)
        if word in NEVER_HEADS or (len(word) > 5 and word.endswith("ed")):
            return 0.0
        if head is None or head.documents < MINIMUM_MEMBERS:
            return 0.0
        if len(self._brands) >= _FEW_BRANDS and len(head.brands) < 2 and not head.lower_case:
            return 0.0
        if self._is_mixed_case and head.occurrences >= 20 and head.lower_case < 0.01 * head.occurrences:
            return 0.0
        return head.ends / head.documents

    def _case_weight(self, word: str) -> float:
        """Weigh down what is always capitalised where other words are not: a brand's line, a standard."""
        if not self._is_mixed_case:
            return 1.0
        head = self._words[word]
        return 0.4 + min(0.6, 2.0 * head.lower_case / head.occurrences)

    def _support(self, name: Name) -> int:
        if len(name) == 1:
            return self._words[name[0]].documents
        return self._pairs[name] if len(name) == 2 else self._triples[name]

    def _compound(self, words: Name) -> Name:
        name = words[-1:]
        for length in range(min(_MAX_NAME_WORDS, len(words)), 0, -1):
            if words[-length:] in self._known:
                return words[-length:]
        while len(name) < _MAX_NAME_WORDS and len(words) > len(name):
            longer = words[-len(name) - 1 :]
            support = self._support(longer)
            enough = min(
                _MIN_COMPOUND_SHARE * self._support(name),
                max(20.0, _MIN_COMPOUND_SHARE_OF_CATALOG * self._documents),
            )
            if support < 2 * MINIMUM_MEMBERS or support < enough:
                break
            if longer[0] in MATERIALS or longer[0] in name or not self._is_common(longer[0]):
                break
            name = longer
        return name

    def _is_common(self, word: str) -> bool:
        head = self._words[word]
        return len(self._brands) < _FEW_BRANDS or len(head.brands) >= 3 or head.lower_case > 0

    def _prune(self, chosen: Mapping[str, Name]) -> dict[str, str]:
        names = dict(chosen)
        while True:
            sizes = Counter(names.values())
            small = {
                name for name, size in sizes.items() if size < MINIMUM_MEMBERS and name not in self._known
            }
            if not small:
                break
            names = {
                identity: name if name not in small else name[1:]
                for identity, name in names.items()
                if name not in small or len(name) > 1
            }
        return {identity: self._label(name) for identity, name in names.items()}

    def _label(self, name: Name) -> str:
        if name in self._known:
            return self._known[name]
        return " ".join(self._surface(word) for word in name)

    def _surface(self, word: str) -> str:
        """Return the form in which titles mostly have a word; the order of the feed decides no tie."""
        forms = self._surfaces.get(word)
        return min(forms, key=lambda form: (-forms[form], form)) if forms else word


def _agreed(known: Counter[str]) -> str | None:
    """Return the category that products of one name have in the merchant's own eyes, if they agree."""
    category, members = known.most_common(1)[0]
    enough = members >= MINIMUM_MEMBERS and members >= _AGREEMENT * known.total()
    return category if enough else None


def _stretches(document: Document) -> list[Stretch]:
    brand_words = frozenset(_brand(document).split())
    return list(stretches(str(document.get("productTitle") or ""), brand_words))


def _type(document: Document) -> str:
    for name in _TYPE_FIELDS:
        value = document.get(name)
        if isinstance(value, str) and all(is_title_word(word) for word in value.casefold().split()):
            return value.casefold()
    return ""


def _brand(document: Document) -> str:
    value = next((document[name] for name in _BRAND_FIELDS if document.get(name)), "")
    return str(value).casefold()
