"""What is asked of the model for one document, and how its answer is read.

The package knows no model: it declares what it needs, and whoever runs it hands one in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import orjson

from search_proxy.feeds.html_text import plain_text

MAX_TEXT_CHARACTERS = 4_000
MAX_KEYWORDS = 30
MAX_KEYWORD_CHARACTERS = 60
MAX_DESCRIPTION_CHARACTERS = 300
ANSWER_TOKENS = 200
"""What thirty keywords and two sentences come to."""

CHARACTERS_PER_TOKEN = 4

OWN_FIELDS = frozenset({"enrichedKeywords", "enrichedDescription"})
_NOT_READ = OWN_FIELDS | {"_id", "_score", "parentProductId", "variantImageUrl"}

INSTRUCTION = (
    "You prepare one document of a corpus for search. Answer with JSON: `keywords`, a list of words and "
    "phrases that somebody who needs this document could search for, also synonyms that it does not use "
    "itself, but nothing that fits every document of the corpus; and `description`, one or two sentences on "
    "what it is. State nothing that the document does not say."
)

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["keywords", "description"],
    "properties": {
        "keywords": {"type": "array", "items": {"type": "string"}},
        "description": {"type": "string"},
    },
}


class EnrichmentFailed(Exception):
    """The model could not be asked, or answered something else; the document is tried again next time."""


class EnrichmentModel(Protocol):
    """Answers one instruction over one text with JSON text of a schema."""

    @property
    def name(self) -> str:
        """Return the model's name, which is kept with what it wrote."""
        ...

    async def write(self, instruction: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return the answer.

        Raises:
            EnrichmentFailed: There is none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment:
    """What was written for one document in one state of its text."""

    id: str
    text_hash: str
    model: str
    keywords: tuple[str, ...]
    description: str

    def line(self) -> bytes:
        """Return the entry as a line of the file."""
        values = {
            "_id": self.id,
            "textHash": self.text_hash,
            "model": self.model,
            "keywords": self.keywords,
            "description": self.description,
        }
        return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


def enriched_text(document: Mapping[str, Any]) -> str:
    """Return what of a document the model reads; what was written before is no part of it."""
    parts = [
        f"{name}: {plain_text(_written(value))}"
        for name, value in document.items()
        if name not in _NOT_READ and value is not None and value != ""
    ]
    return "\n".join(parts)[:MAX_TEXT_CHARACTERS]


def hash_of(text: str) -> str:
    """Return what tells one state of a text from another."""
    return blake2b(text.encode(), digest_size=12).hexdigest()


def estimated_tokens(texts: int, characters: int) -> tuple[int, int]:
    """Return about how many tokens a run reads and writes."""
    read = texts * len(INSTRUCTION) + characters
    return read // CHARACTERS_PER_TOKEN, texts * ANSWER_TOKENS


def read_answer(identifier: str, text_hash: str, model: str, answer: str) -> Enrichment:
    """Return the entry of an answer.

    Raises:
        EnrichmentFailed: It is no JSON of the schema, or says nothing.
    """
    try:
        values = orjson.loads(answer)
        keywords, description = values["keywords"], values["description"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise EnrichmentFailed("the answer is not the JSON that was asked for") from error
    if not isinstance(keywords, list) or not isinstance(description, str):
        raise EnrichmentFailed("the answer is not the JSON that was asked for")
    kept = [plain_text(one)[:MAX_KEYWORD_CHARACTERS] for one in keywords if isinstance(one, str)]
    unique = tuple(dict.fromkeys(one for one in kept if one))[:MAX_KEYWORDS]
    said = plain_text(description)[:MAX_DESCRIPTION_CHARACTERS]
    if not unique and not said:
        raise EnrichmentFailed("the answer says nothing")
    return Enrichment(id=identifier, text_hash=text_hash, model=model, keywords=unique, description=said)


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()
