"""The words by which a query can name a brand, a colour, a category: what a catalog's own values are called.

Learned once per generation of an index from its facets, as the caller may see them; then asked for every
query without a search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search_proxy.models import IndexDescription
from worker.planning.catalog_roles import Roles, is_choice, read_roles
from worker.planning.catalog_words import is_near, singular, word_set, words_of

MAX_VALUES_PER_FIELD = 2_000
"""Enough for the brands of a large shop; a field with more values is no list that people know by name."""
MAX_VALUE_WORDS = 5

Words = tuple[str, ...]

_LEGAL_WORDS = word_set(
    "technology electronic inc corp corporation ltd limited llc gmbh ag group international company co system"
)
"""Endings of makers' names, in the singular, that nobody says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownValue:
    """A value of a field, as the catalog spells it, and how many products have it."""

    field: str
    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The values of an index by their words; `values` is keyed by field, then by singular words.

    `choices` are the fields between whose values a shopper could choose.
    """

    description: IndexDescription
    roles: Roles
    values: Mapping[str, Mapping[Words, KnownValue]] = field(default_factory=dict)
    value_words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()

    def find(self, fields: tuple[str, ...], words: Words) -> KnownValue | None:
        """Return the value of one of the fields that reads as exactly these words."""
        key = tuple([singular(word) for word in words])
        for name in fields:
            values = self.values.get(name)
            if values is not None and key in values:
                return values[key]
        return None

    def find_near(self, fields: tuple[str, ...], words: Words) -> KnownValue | None:
        """Return the commonest value that reads as these words but for one letter of one long word."""
        key = tuple(singular(word) for word in words)
        near = (
            known
            for name in fields
            for own, known in self.values.get(name, {}).items()
            if len(own) == len(key) and is_near(own, key)
        )
        return max(near, key=lambda known: (known.count, known.value), default=None)

    def find_ending(self, fields: tuple[str, ...], words: Words) -> KnownValue | None:
        """Return the value that reads as these words or, failing that, the commonest that ends with them."""
        key = tuple(singular(word) for word in words)
        ending = [
            known
            for name in fields
            for own, known in self.values.get(name, {}).items()
            if own[-len(key) :] == key
        ]
        exact = self.find(fields, words)
        return exact or max(ending, key=lambda known: (known.count, known.value), default=None)

    def field_with_word(self, fields: tuple[str, ...], word: str) -> str | None:
        """Return the first of the fields in which some value contains the word."""
        return next(
            (name for name in fields if singular(word) in self.value_words.get(name, frozenset())), None
        )

    def named_category(self, words: Sequence[str], head: str) -> KnownValue | None:
        """Return the merchant's own category whose whole name, ending with `head`, stands in the words."""
        own = self.description.category_field
        fields = (own,) if own is not None else ()
        for length in range(min(MAX_VALUE_WORDS, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                phrase = tuple(words[start : start + length])
                found = self.find(fields, phrase) if phrase[-1] == head else None
                if found is not None:
                    return found
        return None

    def categories(self) -> list[KnownValue]:
        """Return the categories of the catalog, the largest first."""
        for name in self.roles.category_fields:
            found = sorted(self.values.get(name, {}).values(), key=lambda known: (-known.count, known.value))
            if found:
                return found
        return []


def vocabulary_fields(roles: Roles) -> tuple[str, ...]:
    """Return the fields whose values are worth knowing by name."""
    return tuple(
        dict.fromkeys(
            (
                *roles.category_fields,
                *roles.brands[:1],
                *roles.colours[:4],
                *roles.sizes[:2],
                *roles.materials[:3],
                *roles.audiences[:2],
            )
        )
    )


def learn_vocabulary(description: IndexDescription, facets: Mapping[str, Mapping[str, Any]]) -> Vocabulary:
    """Build the vocabulary from facet counts over the whole index."""
    roles = read_roles(description)
    values: dict[str, dict[Words, KnownValue]] = {}
    value_words: dict[str, frozenset[str]] = {}
    for name in vocabulary_fields(roles):
        known: dict[Words, KnownValue] = {}
        words_in_use: set[str] = set()
        for value, facet in facets.get(name, {}).items():
            words = tuple(singular(word) for word in words_of(value))
            words_in_use.update(words)
            if words and len(words) <= MAX_VALUE_WORDS:
                found = KnownValue(field=name, value=value, count=_count(facet))
                names = {words, _spoken_name(words)} if name in roles.brands else {words}
                for spoken in names:
                    if spoken not in known or known[spoken].count < found.count:
                        known[spoken] = found
        values[name] = known
        value_words[name] = frozenset(words_in_use)
    choices = frozenset(known.name for known in description.fields if is_choice(known))
    return Vocabulary(
        description=description, roles=roles, values=values, value_words=value_words, choices=choices
    )


def _count(facet: Any) -> int:
    return int(facet.get("count", 0)) if isinstance(facet, Mapping) else 0


def _spoken_name(words: Words) -> Words:
    """Return a maker's name as people say it: "Kingston Technology" is "Kingston"."""
    while len(words) > 1 and words[-1] in _LEGAL_WORDS:
        words = words[:-1]
    return words
