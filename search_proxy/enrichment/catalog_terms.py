"""Enriches documents from the catalog's own terms, without a model.

Documents that share a kind (a category, a collection) share words and fields. A document that names no kind
gets the one whose documents it is like, where that is clear; and every document the words that are typical
of its kind and that it does not use itself. Nothing is written that the catalog does not say.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from search_proxy.enrichment.writing import OWN_FIELDS, Enrichment

NAME = "catalog"
"""Stands where an entry names its model."""

KIND_FIELDS = ("category", "productCollections", "productType", "type")
"""What a document says of its kind; the first field that it has counts."""

CLEAR_MARGIN = 4.0
"""By how much (log) the likeliest kind leads the next before it is taken. Source: docs/tools.md."""

_TITLES = ("productTitle", "title", "subject", "name")
_SMALLEST_KIND = 5
_MOST_KINDS = 2_000
_TYPICAL_WORDS = 6
_TYPICAL_SHARE = 0.15
_TYPICAL_LIFT = 4.0
_UNSEEN = 0.1
_DESCRIBED_FIELDS = 3
_LONGEST_DESCRIBED = 40
_WORD = re.compile(r"[^\W\d_]{3,}")
_SAYS_NOTHING = OWN_FIELDS | {
    "_id",
    "parentProductId",
    "price",
    "currency",
    "description",
    "variantImageUrl",
    *_TITLES,
}


class CatalogTerms:
    """What is typical of each kind of document; fed with every document once, then asked for each."""

    def __init__(self) -> None:
        self._documents = 0
        self._kinds: Counter[str] = Counter()
        self._features: dict[str, Counter[str]] = defaultdict(Counter)
        self._words: Counter[str] = Counter()
        self._likely: dict[str, dict[str, float]] | None = None
        self._typical: dict[str, Sequence[str]] = {}

    def learn(self, document: Mapping[str, Any]) -> None:
        """Take one document into account."""
        self._documents += 1
        self._words.update(_words(document))
        kind = _kind(document)
        if kind is not None and (kind in self._kinds or len(self._kinds) < _MOST_KINDS):
            self._kinds[kind] += 1
            self._features[kind].update(_features(document))

    def enrich(self, document: Mapping[str, Any], text_hash: str) -> Enrichment | None:
        """Return what the catalog says of a document that the document does not, or None."""
        own = _kind(document)
        kind = own or self._likeliest(document)
        if kind is None:
            return None
        used = set(_words(document)) | {kind.casefold()}
        typical = [word for word in self._typical_of(kind) if word not in used]
        keywords = ([] if own else [kind]) + typical
        return Enrichment(
            id=str(document["_id"]),
            text_hash=text_hash,
            model=NAME,
            keywords=tuple(keywords),
            description=_described(document, kind),
        )

    def _likeliest(self, document: Mapping[str, Any]) -> str | None:
        """Return the kind whose documents are like this one, where it leads clearly. Source: naive Bayes."""
        if self._likely is None:
            self._likely = self._learned()
        known = [self._likely[feature] for feature in _features(document) if feature in self._likely]
        kinds = [kind for kind, count in self._kinds.items() if count >= _SMALLEST_KIND]
        if not known or not kinds:
            return None
        total = sum(self._kinds[kind] for kind in kinds)
        scores = {
            kind: math.log(self._kinds[kind] / total) + len(known) * self._of_unseen(kind) for kind in kinds
        }
        for by_kind in known:
            for kind, more in by_kind.items():
                scores[kind] += more
        best, *others = sorted(scores.values(), reverse=True)
        if others and best - others[0] < CLEAR_MARGIN:
            return None
        return max(scores, key=scores.__getitem__)

    def _learned(self) -> dict[str, dict[str, float]]:
        """Return of every feature how much likelier it makes each kind that has it."""
        likely: dict[str, dict[str, float]] = defaultdict(dict)
        for kind, features in self._features.items():
            if self._kinds[kind] >= _SMALLEST_KIND:
                unseen = self._of_unseen(kind)
                for feature, count in features.items():
                    likely[feature][kind] = self._log_share(count, kind) - unseen
        return dict(likely)

    def _of_unseen(self, kind: str) -> float:
        return self._log_share(0, kind)

    def _log_share(self, count: int, kind: str) -> float:
        return math.log((count + _UNSEEN) / (self._kinds[kind] + 2))

    def _typical_of(self, kind: str) -> Sequence[str]:
        known = self._typical.get(kind)
        if known is None:
            known = self._typical[kind] = self._most_typical(kind)
        return known

    def _most_typical(self, kind: str) -> Sequence[str]:
        found = []
        for feature, count in self._features[kind].items():
            word = feature.removeprefix("word ")
            share = count / self._kinds[kind]
            if feature != word and share >= _TYPICAL_SHARE and self._kinds[kind] >= _SMALLEST_KIND:
                lift = share / (self._words[word] / self._documents)
                if lift >= _TYPICAL_LIFT:
                    found.append((share * math.log(lift), word))
        return [word for _, word in sorted(found, reverse=True)[:_TYPICAL_WORDS]]


def _kind(document: Mapping[str, Any]) -> str | None:
    for name in KIND_FIELDS:
        value = document.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, str) and first.strip():
            return first.strip()
    return None


def _words(document: Mapping[str, Any]) -> Sequence[str]:
    title = next((document[name] for name in _TITLES if isinstance(document.get(name), str)), "")
    return tuple(dict.fromkeys(_WORD.findall(title.casefold())))


def _features(document: Mapping[str, Any]) -> Iterator[str]:
    for word in _words(document):
        yield f"word {word}"
    for name in document:
        if name not in _SAYS_NOTHING and name not in KIND_FIELDS:
            yield f"field {name}"


def _described(document: Mapping[str, Any], kind: str) -> str:
    """Return the kind with the first short facts of the document, as `Tents: Fellhorn, red`."""
    facts = [
        value
        for name, value in document.items()
        if name not in _SAYS_NOTHING
        and name not in KIND_FIELDS
        and isinstance(value, str)
        and 1 < len(value) <= _LONGEST_DESCRIBED
        and not value.startswith(("http://", "https://"))
    ]
    return f"{kind}: {', '.join(facts[:_DESCRIBED_FIELDS])}" if facts else kind
