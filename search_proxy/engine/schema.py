"""What the owner of an index declares of its search: which field counts as what, and how much.

Nothing has to be declared: standard fields have their place, every other field is an attribute, the boosts
and the fusion are those that were measured best, and facets are chosen by what the feed has. A declaration
is checked whole and kept in the index's manifest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from search_proxy.engine.columns import Array
from search_proxy.engine.fusion import Fusion, FusionMethod
from search_proxy.engine.languages import STEMMERS
from search_proxy.engine.searchable_text import BOOSTS, NOT_SEARCHED, field_of, name_words
from search_proxy.errors import InvalidSearch

NOT_SEARCHED_AT_ALL = "none"
TEXT_ROLES = (*(name for name in BOOSTS if name != "enriched"), NOT_SEARCHED_AT_ALL)
"""What a document's field can count as; enrichments have a text field of their own."""

MAX_FIELDS = 1_000
MAX_FACETS = 50
MAX_BOOST = 100.0
_LONGEST_NAME = 256
_LISTED_NAMES = 50
_KEYS = ("language", "fields", "boosts", "facets", "fusion")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSchema:
    """What was declared, and nothing else; an empty one is an index as it comes.

    `fields` gives a document's field the text field that it is searched in, `boosts` a text field its weight.
    `facets` are the ones that come unasked, in this order; None chooses them by the feed.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    boosts: Mapping[str, float] = field(default_factory=dict)
    facets: tuple[str, ...] | None = None
    fusion: FusionMethod | None = None

    def searched_in(self, name: str) -> tuple[str, str] | None:
        """Return in which text field a document's field is searched, and by which words of its name."""
        role = self.fields.get(name)
        if role is None:
            return field_of(name)
        if role == NOT_SEARCHED_AT_ALL:
            return None
        return role, (name_words(name) if role == "attributes" else "")

    def weights(self) -> Array:
        """Return the weight of every text field, in their order."""
        return np.array([self.boosts.get(name, weight) for name, weight in BOOSTS.items()])

    def fused(self, usual: Fusion) -> Fusion:
        """Return how the lanes of this index are fused, where the server's way is `usual`."""
        if self.fusion is None or self.fusion == usual.method:
            return usual
        return Fusion(method=self.fusion, depth=usual.depth, min_similarity=usual.min_similarity)

    def check_names(self, names: Iterable[str]) -> None:
        """Refuse a field that is none of `names`, the fields that some document has; `a` is in `a.b`.

        Raises:
            InvalidSearch: The message names the field and those that there are.
        """
        known = set(names)
        known |= {name.partition(".")[0] for name in known}
        for key, declared in (("fields", self.fields), ("facets", self.facets or ())):
            missing = next((name for name in declared if name not in known), None)
            if missing is not None:
                listed = ", ".join(sorted(known)[:_LISTED_NAMES])
                raise InvalidSearch(f"{key}: no document has a field {_shown(missing)}; there are {listed}")

    def to_wire(self) -> dict[str, Any]:
        """Return what was declared as JSON has it."""
        parts: dict[str, Any] = {
            "fields": dict(self.fields),
            "boosts": dict(self.boosts),
            "facets": None if self.facets is None else list(self.facets),
            "fusion": self.fusion,
        }
        return {name: value for name, value in parts.items() if value not in (None, {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A schema and the language beside it; without a language the index keeps the one that it has."""

    schema: SearchSchema
    language: str | None = None


def read_declaration(values: Any) -> Declaration:
    """Return what `values` declare: `language`, `fields`, `boosts`, `facets` and `fusion`, each optional.

    Raises:
        InvalidSearch: The message names the key, what it was and what it takes.
    """
    if not isinstance(values, Mapping):
        raise InvalidSearch(f"a schema must be an object with {_listed(_KEYS)}, not {_shown(values)}")
    unknown = next((name for name in values if name not in _KEYS), None)
    if unknown is not None:
        raise InvalidSearch(f"a schema has no {_shown(unknown)}; it takes {_listed(_KEYS)}")
    fusion, language = values.get("fusion"), values.get("language")
    if fusion is not None and fusion not in get_args(FusionMethod):
        raise InvalidSearch(f"fusion must be one of {_listed(get_args(FusionMethod))}, not {_shown(fusion)}")
    if language is not None and (not isinstance(language, str) or language not in STEMMERS):
        raise InvalidSearch(f"language must be one of {', '.join(STEMMERS)}, not {_shown(language)}")
    schema = SearchSchema(
        fields=_fields(values.get("fields")),
        boosts=_boosts(values.get("boosts")),
        facets=_facets(values.get("facets")),
        fusion=fusion,
    )
    return Declaration(schema=schema, language=language)


def _fields(value: Any) -> dict[str, str]:
    for name, role in _entries("fields", value, MAX_FIELDS):
        if name in NOT_SEARCHED or name.startswith("_"):
            raise InvalidSearch(f"fields: {_shown(name)} is never searched by its words; leave it out")
        if not isinstance(role, str) or role not in TEXT_ROLES:
            raise InvalidSearch(
                f"fields: {_shown(name)} must be one of {_listed(TEXT_ROLES)}, not {_shown(role)}"
            )
    return dict(value or {})


def _boosts(value: Any) -> dict[str, float]:
    for name, weight in _entries("boosts", value, len(BOOSTS)):
        if name not in BOOSTS:
            raise InvalidSearch(f"boosts: there is no text field {_shown(name)}; there are {_listed(BOOSTS)}")
        is_number = type(weight) in (int, float) and math.isfinite(weight)
        if not is_number or not 0 <= weight <= MAX_BOOST:
            raise InvalidSearch(
                f"boosts: {_shown(name)} must be a number of 0 to {MAX_BOOST:g}, not {_shown(weight)}"
            )
    return {name: float(weight) for name, weight in (value or {}).items()}


def _facets(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(map(_is_name, value)):
        raise InvalidSearch(f"facets must be a list of field names, not {_shown(value)}")
    if len(value) > MAX_FACETS:
        raise InvalidSearch(f"facets must have at most {MAX_FACETS} fields, not {len(value)}")
    twice = next((name for at, name in enumerate(value) if name in value[:at]), None)
    if twice is not None:
        raise InvalidSearch(f"facets has {_shown(twice)} twice")
    hidden = next((name for name in value if name == "visibleTo" or name.startswith("_")), None)
    if hidden is not None:
        raise InvalidSearch(f"facets: {_shown(hidden)} is no field for shoppers")
    return tuple(value)


def _entries(key: str, value: Any, most: int) -> list[tuple[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, Mapping) or not all(map(_is_name, value)):
        raise InvalidSearch(f"{key} must be an object whose keys are names, not {_shown(value)}")
    if len(value) > most:
        raise InvalidSearch(f"{key} must have at most {most} entries, not {len(value)}")
    return list(value.items())


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= _LONGEST_NAME


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))


def _shown(value: Any) -> str:
    return repr(value)[:200]
