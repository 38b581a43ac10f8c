"""Recognises a value of the catalog at a place in a sentence, and what follows a "not"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from search_proxy.filters import ContainsFilter, Filter, InFilter, OrFilter, TermFilter
from worker.planning.catalog_lexicon import (
    COLOUR_COMPOUNDS,
    COLOURS,
    COLOURS_ABROAD,
    FILLER,
    FOREIGN_COLOURS,
    FOREIGN_SMALL_WORDS,
    NEGATIONS,
    SPELLINGS,
    SURE_NEGATIONS,
    TELLS_LANGUAGE,
    VAGUE_QUALITIES,
)
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.catalog_words import singular, word_set

MAX_UNWANTED = 4
"""A sentence that excludes more is rather a list of what it wants."""

_MAX_WORDS = 4
_LETTER_SIZES = re.compile(r"x{0,3}s|m|l|x{1,4}l|[2-6]xl")
_SIZE_CUES = word_set("""size sized sizes grösse grössen taille talla pointure""")
_BETWEEN_UNWANTED = word_set("""or and nor""")
_SKIPPED = word_set("""a an any the of from in made too much with anything something so very""")
_NO_PRODUCT = word_set("""know sure mind care matter break wait decide sold out""")
_AUDIENCES = (
    (
        word_set("man men mens men's male gents gentleman gentlemen boyfriend husband dad father him"),
        ("men", "man", "mens", "male", "gent"),
    ),
    (
        word_set("woman women womens women's female lady ladies girlfriend wife mom mum mother her"),
        ("women", "woman", "womens", "female", "lady"),
    ),
    (
        word_set("kid kids kid's kids' child children children's toddler toddlers boy boys girl girls"),
        ("kid", "child", "youth"),
    ),
)
_FOR_EVERYBODY = "unisex"

ValueRole = Literal["brand", "colour", "size", "material", "audience", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadValue:
    """A value found in the words; `end` is the position after it."""

    role: ValueRole
    filter: Filter
    words: str
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwanted:
    """What a negation excludes; without values the words only say nothing ("not too expensive")."""

    values: tuple[ReadValue, ...]
    end: int


def read_value(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    """Return the wanted value that starts at `position`, or None."""
    return (
        _size(words, position, vocabulary)
        or _brand(words, position, vocabulary)
        or _colour(words, position, vocabulary)
        or _audience(words, position, vocabulary)
        or _made_of(words, position, vocabulary)
    )


def read_unwanted(words: Sequence[str], position: int, vocabulary: Vocabulary) -> Unwanted | None:
    """Return what the negation at `position` excludes, or None where there is no negation.

    "no" counts only before a value that the catalog knows, because "no show socks" wants socks.
    """
    free = _free_of(words, position, vocabulary)
    if free is not None:
        return free
    if words[position] not in NEGATIONS:
        return None
    sure = words[position] in SURE_NEGATIONS
    place = _skip(words, position + 1)
    if place < len(words) and words[place] in VAGUE_QUALITIES | _NO_PRODUCT:
        return Unwanted(values=(), end=place + 1) if sure else None
    values: list[ReadValue] = []
    end = place
    while place < len(words) and len(values) < MAX_UNWANTED:
        value = _known(words, place, vocabulary)
        if value is None and sure and (not values or words[place] in COLOURS):
            # In "not black or white" white is unwanted too, whether a field has it or not.
            value = _text(words, place, vocabulary)
        if value is None:
            break
        values.append(value)
        end = place = value.end
        if place >= len(words) or words[place] not in _BETWEEN_UNWANTED:
            break
        place = _skip(words, place + 1)
    if not values and not sure:
        return None
    return Unwanted(values=tuple(values), end=end)


def _skip(words: Sequence[str], position: int) -> int:
    while position < len(words) and words[position] in _SKIPPED:
        position += 1
    return position


def _known(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    return (
        _brand(words, position, vocabulary)
        or _colour(words, position, vocabulary)
        or _material(words, position, vocabulary)
        or _category(words, position, vocabulary)
    )


def _free_of(words: Sequence[str], position: int, vocabulary: Vocabulary) -> Unwanted | None:
    """Read "wool-free" and "leather free"; "gluten-free" stays what it is, a quality."""
    word = words[position]
    if word.endswith("-free"):
        value = _material([word.removesuffix("-free")], 0, vocabulary)
        return None if value is None else Unwanted(values=(value,), end=position + 1)
    if position + 1 < len(words) and words[position + 1] == "free":
        value = _material(words, position, vocabulary)
        return None if value is None else Unwanted(values=(value,), end=position + 2)
    return None


def _brand(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    for length in range(min(_MAX_WORDS, len(words) - position), 0, -1):
        phrase = tuple(words[position : position + length])
        if length == 1 and (phrase[0] in FILLER or phrase[0] in COLOURS or phrase[0].isdigit()):
            continue
        brand = vocabulary.find(vocabulary.roles.brands[:1], phrase)
        if brand is None or vocabulary.find(vocabulary.roles.category_fields, phrase) is not None:
            continue
        wanted = TermFilter(brand.field, brand.value)
        return ReadValue(role="brand", filter=wanted, words=" ".join(phrase), end=position + length)
    return None


def _colour(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    fields = vocabulary.roles.colours
    names = FOREIGN_COLOURS | COLOURS_ABROAD if _is_foreign(words) else FOREIGN_COLOURS
    for length in range(min(3, len(words) - position), 0, -1):
        phrase = tuple([names.get(word, word) for word in words[position : position + length]])
        end = position + length
        if COLOURS.isdisjoint(phrase) or (end < len(words) and words[end] in COLOUR_COMPOUNDS):
            continue
        for spelling in (phrase, tuple(SPELLINGS.get(word, word) for word in phrase)):
            known = vocabulary.find(fields, spelling)
            wanted: Filter | None = None if known is None else TermFilter(known.field, known.value)
            if wanted is None and length == 1:
                name = vocabulary.field_with_word(fields, spelling[0])
                wanted = None if name is None else ContainsFilter(name, spelling[0])
            if wanted is not None:
                return ReadValue(role="colour", filter=wanted, words=" ".join(phrase), end=end)
    return None


def _is_foreign(words: Sequence[str]) -> bool:
    """Return whether a sentence is not English; three small words that English has as loans say so too."""
    # What tells a language is among the small words: without any of these there is nothing to count.
    return not FOREIGN_SMALL_WORDS.isdisjoint(words) and (
        not TELLS_LANGUAGE.isdisjoint(words) or sum(word in FOREIGN_SMALL_WORDS for word in words) >= 3
    )


def _size(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    """Read "size 42", "in XL", "XXL"; "medium" alone is rather an adjective."""
    fields = vocabulary.roles.sizes
    word = words[position]
    if word in _SIZE_CUES and position + 1 < len(words):
        for length in range(min(3, len(words) - position - 1), 0, -1):
            known = vocabulary.find_ending(fields, tuple(words[position + 1 : position + 1 + length]))
            if known is not None:
                end = position + 1 + length
                wanted = TermFilter(known.field, known.value)
                return ReadValue(role="size", filter=wanted, words=" ".join(words[position:end]), end=end)
    after_cue = position > 0 and words[position - 1] == "in"
    before_cue = position + 1 < len(words) and words[position + 1] in _SIZE_CUES
    plain_letters = _LETTER_SIZES.fullmatch(word) is not None and (len(word) > 1 or after_cue)
    if not (plain_letters or before_cue or (after_cue and word in {"small", "medium", "large"})):
        return None
    known = vocabulary.find(fields, (word,))
    if known is None:
        return None
    end = position + (2 if before_cue else 1)
    return ReadValue(role="size", filter=TermFilter(known.field, known.value), words=word, end=end)


def _audience(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    for said, names in _AUDIENCES:
        # "man" is a German "one" as well.
        if words[position] not in said or (words[position] == "man" and _is_foreign(words)):
            continue
        known = next(
            (found for name in names if (found := vocabulary.find(vocabulary.roles.audiences, (name,)))), None
        )
        if known is not None and len(known.value) > 1:
            unisex = vocabulary.find((known.field,), (_FOR_EVERYBODY,))
            wanted: Filter = TermFilter(known.field, known.value)
            if unisex is not None and names[0] != "kid":
                wanted = InFilter(known.field, (known.value, unisex.value))
            return ReadValue(role="audience", filter=wanted, words=words[position], end=position + 1)
    return None


def _made_of(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    if words[position] != "made" or words[position + 1 : position + 2] not in (["of"], ["from"]):
        return None
    value = _material(words, position + 2, vocabulary) if position + 2 < len(words) else None
    return value


def _material(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    fields = vocabulary.roles.materials
    for length in range(min(3, len(words) - position), 0, -1):
        phrase = tuple(words[position : position + length])
        known = vocabulary.find(fields, phrase) if length > 1 else None
        name = vocabulary.field_with_word(fields, phrase[0]) if length == 1 else None
        if known is None and (name is None or phrase[0] in FILLER):
            continue
        # "wool" must also catch "merino wool", so one word is looked for inside the value.
        wanted: Filter = (
            TermFilter(known.field, known.value) if known else ContainsFilter(str(name), phrase[0])
        )
        return ReadValue(role="material", filter=wanted, words=" ".join(phrase), end=position + length)
    return None


def _category(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    for length in range(min(_MAX_WORDS, len(words) - position), 0, -1):
        known = vocabulary.find(vocabulary.roles.category_fields, tuple(words[position : position + length]))
        if known is not None:
            phrase = " ".join(words[position : position + length])
            wanted = TermFilter(known.field, known.value)
            return ReadValue(role="text", filter=wanted, words=phrase, end=position + length)
    return None


def _text(words: Sequence[str], position: int, vocabulary: Vocabulary) -> ReadValue | None:
    """Exclude a word that no field has as a value, by title and description."""
    word = words[position]
    texts = vocabulary.roles.texts
    if word in FILLER or word in _NO_PRODUCT or not texts or len(word) < 3:
        return None
    wanted: Filter = ContainsFilter(texts[0], singular(word))
    for name in texts[1:]:
        wanted = OrFilter(wanted, ContainsFilter(name, singular(word)))
    return ReadValue(role="text", filter=wanted, words=word, end=position + 1)
