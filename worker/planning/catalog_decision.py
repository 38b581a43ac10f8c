"""Decides by rules how a query is answered: the strategy, the words to search, the filter.

No search is made here: the decision reads only the query and the catalog's vocabulary, and costs well under
a millisecond. It is also what stands in for a model's decision when there is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from search_proxy.filters import Filter, TermFilter, merge_filters
from worker.planning.catalog_concepts import with_concepts
from worker.planning.catalog_constraints import Demands, read_demands
from worker.planning.catalog_labels import category_label
from worker.planning.catalog_lexicon import (
    CAPABILITY,
    FOREIGN_SMALL_WORDS,
    GREETING,
    INSTRUCTION,
    QUALIFIERS,
    REMARK,
    SERVICE,
    TELLS_LANGUAGE,
    THANKS,
    VAGUE,
    topic_words,
)
from worker.planning.catalog_vocabulary import KnownValue, Vocabulary
from worker.planning.plan import Strategy

MAX_OPTIONS = 6
"""Clickable options of a clarifying question; more is a menu."""

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_MAX_READ_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a query is answered; `topic` is empty where only filters are left.

    `head` is the noun of the sentence, `options` are categories to offer.
    """

    strategy: Strategy
    topic: str = ""
    head: str = ""
    demands: Demands = Demands()
    category: KnownValue | None = None
    message: str | None = None
    options: tuple[str, ...] = ()

    @property
    def filter(self) -> Filter | None:
        """Return everything that the sentence demands of fields, its category included where it is one."""
        named = None if self.category is None else TermFilter(self.category.field, self.category.value)
        return merge_filters(named, self.demands.filter)


def decide(query: str, vocabulary: Vocabulary) -> Decision:
    """Return the decision for a query over an index of that vocabulary."""
    text = unicodedata.normalize("NFKC", query)[:_MAX_READ_CHARACTERS].strip()
    answer = _conversational_answer(text, vocabulary)
    if answer is not None:
        return Decision(strategy=Strategy.NO_MATCH, message=answer)
    return _by_demands(read_demands(text, vocabulary), vocabulary)


def settle(decision: Decision, demands: Demands) -> Decision:
    """Return the decision with other demands: what is left to search decides the strategy anew."""
    topic = " ".join(with_concepts(_topic(demands)))
    decision = replace(decision, head=head_of(demands.rest))
    if not topic:
        return replace(decision, strategy=Strategy.METADATA_ONLY, topic="", demands=demands)
    if demands.demands:
        return replace(decision, strategy=Strategy.HYBRID, topic=topic, demands=demands, category=None)
    return replace(decision, strategy=Strategy.CONTENT_ONLY, topic=topic, demands=demands, category=None)


def _by_demands(demands: Demands, vocabulary: Vocabulary) -> Decision:
    topic = _topic(demands)
    asks = bool(demands.demands) or demands.sort is not None
    if not topic or (not asks and _is_vague_abroad(topic)):
        return (
            Decision(strategy=Strategy.METADATA_ONLY, demands=demands) if asks else _clarification(vocabulary)
        )
    fields = vocabulary.roles.category_fields
    category = (
        vocabulary.find(fields, tuple(topic)) or vocabulary.find_near(fields, tuple(topic)) if asks else None
    )
    if category is not None:
        strategy = Strategy.METADATA_ONLY
    else:
        strategy = Strategy.HYBRID if demands.demands else Strategy.CONTENT_ONLY
    return Decision(
        strategy=strategy,
        topic=" ".join(with_concepts(topic)),
        head=head_of(demands.rest),
        demands=demands,
        category=category,
    )


def _is_vague_abroad(topic: Sequence[str]) -> bool:
    return all(word in FOREIGN_SMALL_WORDS for word in topic) and any(
        word in TELLS_LANGUAGE for word in topic
    )


def head_of(words: Sequence[str]) -> str:
    """Return the noun that a sentence is about: in English the last before what only qualifies it.

    "bedding for hot sleepers" is about bedding, "warm winter boots" about boots.
    """
    head = ""
    for word in words:
        if head and word in QUALIFIERS:
            break
        if topic_words([word]) and word not in VAGUE:
            head = word
    return head


def _topic(demands: Demands) -> list[str]:
    """Return the words to search; vague ones only say something beside others."""
    return [word for word in topic_words(list(demands.rest)) if word not in VAGUE]


def _conversational_answer(text: str, vocabulary: Vocabulary) -> str | None:
    plain = _EDGES.sub("", text)
    plain = re.sub(r"[!,.…]+", " ", plain)
    plain = " ".join(plain.split())
    if INSTRUCTION.search(text):
        return f"I can only help you find products here{_examples(vocabulary)}."
    if GREETING.fullmatch(plain):
        return f"Hello! Tell me what you are looking for{_examples(vocabulary)}."
    if THANKS.fullmatch(plain):
        return "You are welcome. Tell me whenever you want to look for something else."
    if REMARK.fullmatch(plain):
        return f"I am better with products than with words{_examples(vocabulary)}."
    greeting = GREETING.match(plain)
    rest = plain[greeting.end() :].strip() if greeting else plain
    if CAPABILITY.fullmatch(plain) or (rest and CAPABILITY.fullmatch(rest)):
        return (
            "I find products in this catalog: say what you need, for whom, in which colour or size, and what "
            f"it may cost{_examples(vocabulary)}."
        )
    if SERVICE.search(text):
        examples = _examples(vocabulary)
        return f"I can help you find products, but not with orders, accounts or shop policies{examples}."
    return None


def _examples(vocabulary: Vocabulary) -> str:
    labels = [category_label(known.value).lower() for known in vocabulary.categories()[:3]]
    return f", for example {', '.join(labels[:-1])} or {labels[-1]}" if len(labels) == 3 else ""


def clarifying_options(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the catalog's largest categories as a shopper would click them."""
    labels = dict.fromkeys(category_label(known.value) for known in vocabulary.categories())
    return tuple(labels)[:MAX_OPTIONS]


def _clarification(vocabulary: Vocabulary) -> Decision:
    return Decision(
        strategy=Strategy.NEEDS_CLARIFICATION,
        message="What kind of product are you looking for?",
        options=clarifying_options(vocabulary),
    )
