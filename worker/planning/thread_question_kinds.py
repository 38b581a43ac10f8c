"""Recognises a question about products that were shown: "how much is it?", "is it waterproof?".

A question is answered from the product's own data. What asks for other products ("do you have it in green?",
"what else is there?") is none: the thread searches for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from worker.planning.catalog_lexicon import FILLER, topic_words
from worker.planning.catalog_words import word_set, words_of

MAX_COMPARED = 4
"""Products of one answer; more is a table."""

Asked = Literal[
    "price",
    "weight",
    "stock",
    "colours",
    "sizes",
    "material",
    "brand",
    "rating",
    "description",
    "words",
    "differences",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of products; `words` are those to look for in their data where that is what it takes.

    `of_what_was_spoken`: it is about the last product even though the sentence does not say "it".
    """

    asked: Asked
    words: tuple[str, ...] = ()
    of_what_was_spoken: bool = False


_PATTERNS: tuple[tuple[Asked, str], ...] = (
    (
        "differences",
        r"\bcompar(?:e|ed|ing|ison)\b|\bdifferen(?:ce|ces|t from)\b|\bversus\b|\bvs\b"
        r"|\bhow (?:do|does|are|is) .+ (?:differ|different)\b",
    ),
    (
        "weight",
        r"\bhow heavy\b|\bhow light\b|\bweighs?\b|^(?:and )?(?:what(?:'s| is)? )?(?:the |its )?weight\b",
    ),
    (
        "price",
        r"\bhow much\b|\bwhat(?:'s| is| are| does| do| did)? .*\b(?:price|prices|cost|costs)\b"
        r"|\b(?:the|its) price\?|^price$|\bprice of\b",
    ),
    (
        "colours",
        r"\b(?:what|which)(?: other)? colou?rs?\b|\bin (?:other|different|which|what) colou?rs\b",
    ),
    (
        "sizes",
        r"\b(?:what|which)(?: other)? sizes?\b|\bhow (?:big|large|long|tall|wide|small) (?:is|are)(?: it"
        r"| they| these| this| that)?$"
        r"|\bdimensions\b",
    ),
    (
        "material",
        r"\bmade (?:of|from|out of|with)$|\b(?:what|which) (?:material|fabric)\b"
        r"|\bwhat (?:is|are|'s) .*\bmade\b",
    ),
    (
        "brand",
        r"\bwho (?:makes|made|produces|manufactures)\b|\b(?:what|which) (?:brand|make|company|maker)\b",
    ),
    (
        "rating",
        r"\b(?:any|is .*|are .*) good$|\bworth it\b|\bwhat (?:do|did) (?:people|others|customers) "
        r"|\bhow (?:good|well rated) is\b|\b(?:the|its|what|any) (?:reviews?|ratings?)\b",
    ),
    (
        "stock",
        r"\b(?:is|are) .*\bin stock\b|^how many(?: of (?:them|those|these))?"
        r"(?: (?:do you have|have you got|are there|are left|of it))?(?: left| there| in stock)?$",
    ),
    (
        "description",
        r"^(?:(?:can|could) you )?(?:please )?(?:tell me (?:more|everything|about)|describe"
        r"|(?:(?:give|show|send|get) me )?(?:some |any )?(?:more |the |further )?(?:details?|information|info"
        r"|specs|specifications|description))\b",
    ),
)
_KINDS = tuple((asked, re.compile(pattern)) for asked, pattern in _PATTERNS)
_ASKS_OF_IT = re.compile(
    r"^(?:and |so |but |then |also )*(?:is|are|was|does|do|has|have|will|would|could|can|did)\b"
    r"(?! (?:you|we|there|i (?:see|have|get|buy|order|find|return))\b)"
    r"|^(?:and |so |but )*(?:how|what|which|why|where|when|does)\b(?! (?:about|else|if)\b)"
)
_ASKS_ON = re.compile(
    r"^(?:and |so |but )*(?:how (?!about)\w+|what(?:'s| is| are) the|is there (?:an?"
    r"|any))\b"
)
_WANTS_ANOTHER = re.compile(
    r"\b(?:come|comes|available|stock|get|have|got|sell|exist|exists) (?:it |that |this )?(?:one )?"
    r"(?:in|with|from|for)\b|\bcheaper|\bexpensive|\blarger|\bbigger|\bsmaller|\bsimilar|\bmore like"
)
_NOT_LOOKED_FOR = word_set(
    """many much long made come comes really still actually also able possible suitable include includes
    does did will would could can have has had having fit fits work works use used using good well any kind
    type there they he she its it's sort feature features"""
)


def read_question(text: str) -> Question | None:
    """Return what a plain sentence asks, whatever it is about, or None where it asks nothing of a product."""
    text = text.strip(" ?!.,;")
    if _WANTS_ANOTHER.search(text) and not re.search(r"\bin stock\b|\bwhich|\bwhat", text):
        return None
    for asked, pattern in _KINDS:
        if pattern.search(text):
            return Question(asked=asked)
    if _ASKS_OF_IT.search(text) is None:
        return None
    looked_for = tuple(word for word in topic_words(words_of(text)) if word not in _NOT_LOOKED_FOR | FILLER)
    if not looked_for:
        return None
    return Question(asked="words", words=looked_for, of_what_was_spoken=_ASKS_ON.search(text) is not None)
