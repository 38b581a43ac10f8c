"""Words a reason: the terms that matched and where, the demands that a hit meets, the nearness of meaning.

The sentence is put together from what was found and nothing else, in the index's language where its few words
are known and in English elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search_proxy.engine.searchable_text import name_words
from search_proxy.explaining.matched_words import MatchedField, readable
from search_proxy.filters import AndFilter, ContainsFilter, Filter, InFilter, RangeFilter, TermFilter

REASON_CHARACTERS = 200
_MAX_DEMANDS = 4
_MAX_VALUE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    inside: str
    similar: str
    fields: Mapping[str, str]


_FIELDS_EN = {
    "productTitle": "title",
    "variantTitle": "variant",
    "productCollections": "collections",
    "enrichedKeywords": "keywords",
    "enrichedDescription": "description",
}
_ENGLISH = _Wording(inside="in", similar="similar in meaning", fields=_FIELDS_EN)
_WORDINGS = {
    "en": _ENGLISH,
    "de": _Wording(
        inside="in",
        similar="ähnlich in der Bedeutung",
        fields={
            "productTitle": "Titel",
            "description": "Beschreibung",
            "category": "Kategorie",
            "brand": "Marke",
        },
    ),
    "fr": _Wording(
        inside="dans",
        similar="sens proche",
        fields={"productTitle": "titre", "category": "catégorie", "brand": "marque"},
    ),
    "es": _Wording(
        inside="en",
        similar="significado parecido",
        fields={
            "productTitle": "título",
            "description": "descripción",
            "category": "categoría",
            "brand": "marca",
        },
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetDemand:
    """A field that a filter asked for, with the document's own value."""

    field: str
    value: str


def met_demands(document: Mapping[str, Any], asked: Filter | None, forced: Filter | None) -> list[MetDemand]:
    """Return what of a filter's demands can be told as a field and a value.

    What the caller's rights put there is never told; neither is what a hit is not, nor one of several ways.
    """
    hidden = _leaves(forced)
    told = []
    for leaf in _leaves(asked):
        value = None if leaf in hidden else _own_value(document, leaf)
        if value and not _field(leaf).startswith("_"):
            told.append(MetDemand(field=_field(leaf), value=value))
    return told[:_MAX_DEMANDS]


def reason(
    matched: Sequence[MatchedField], demands: Sequence[MetDemand], *, is_similar: bool, language: str
) -> str | None:
    """Return the reason, at most 200 characters of whole parts, or None where nothing can be said."""
    wording = _WORDINGS.get(language, _ENGLISH)
    told = ""
    for part in _parts(matched, demands, is_similar, wording):
        longer = f"{told}; {part}" if told else part
        if len(longer) > REASON_CHARACTERS:
            break
        told = longer
    return told or None


def _parts(
    matched: Sequence[MatchedField], demands: Sequence[MetDemand], is_similar: bool, wording: _Wording
) -> Iterator[str]:
    told: set[str] = set()
    for each in matched:
        # Where a term stands first says most; that it stands elsewhere too makes no shopper wiser.
        words = [word for word, term in zip(each.words, each.terms, strict=True) if term not in told]
        told.update(each.terms)
        if words:
            quoted = ", ".join(f"“{word}”" for word in words)
            yield f"{quoted} {wording.inside} {_name(each.field, wording)}"
    for demand in demands:
        yield f"{_name(demand.field, wording)}: {demand.value}"
    if is_similar and not matched:
        yield wording.similar


def _name(field: str, wording: _Wording) -> str:
    return wording.fields.get(field) or _FIELDS_EN.get(field) or name_words(field) or field


def _leaves(part: Filter | None) -> list[Filter]:
    if isinstance(part, AndFilter):
        return [*_leaves(part.left), *_leaves(part.right)]
    return [] if part is None else [part]


def _field(leaf: Filter) -> str:
    return leaf.field if isinstance(leaf, TermFilter | InFilter | RangeFilter | ContainsFilter) else "_"


def _own_value(document: Mapping[str, Any], leaf: Filter) -> str:
    """Return the document's value that meets the leaf, empty where that cannot be told."""
    match leaf:
        case TermFilter(field=field, value=value):
            asked = {value.casefold()}
        case InFilter(field=field, values=values):
            asked = {value.casefold() for value in values}
        case RangeFilter(field=field) | ContainsFilter(field=field):
            own = document.get(field)
            return "" if isinstance(own, list | tuple) else readable(own)[:_MAX_VALUE]
        case _:
            return ""
    own = document.get(field)
    if isinstance(own, bool):
        return str(own).lower() if str(own).lower() in asked else ""
    values_of = own if isinstance(own, list | tuple) else [own]
    texts = (readable(each) for each in values_of)
    return next((text[:_MAX_VALUE] for text in texts if text and text.casefold() in asked), "")
