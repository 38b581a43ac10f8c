"""Query expansion: other ways to say a query, from a model or from the catalog itself.

A conceptual question often embeds like small talk; a few paraphrases, each searched alone and fused by rank,
bring it back to the subject. A literal query, an id or a quoted phrase, is only blurred by that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search_proxy.models import Hit, SearchResult
from search_proxy.tools.context import ToolContext

MAX_PARAPHRASES = 4

_WORD = re.compile(r"\w+")
_LITERAL = re.compile(r"[\"“”«»]|\S+@\S+|https?://|\d\w*[a-z]|[a-z]\w*\d|\d{4,}|\w+[-_/]\w*\d", re.IGNORECASE)
_MIN_WORD = 4
_READ_HITS = 10
_ADDED_WORDS = 3


def is_literal(query: str) -> bool:
    """Return whether a query names something exactly: a quoted phrase, a number, a code, an address."""
    return bool(_LITERAL.search(query)) or len(_WORD.findall(query)) < 2


async def paraphrases(context: ToolContext, query: str) -> Sequence[str]:
    """Return other ways to say `query`: the model's, or the catalog's where there is no model."""
    if context.paraphraser is not None:
        written = await context.paraphraser.paraphrases(query, MAX_PARAPHRASES)
        kept = [one for one in dict.fromkeys(text.strip() for text in written) if one and one != query]
        if kept:
            return kept[:MAX_PARAPHRASES]
    return _from_hits(query, await context.find(query, "text", _READ_HITS), context)


def _from_hits(query: str, result: SearchResult, context: ToolContext) -> Sequence[str]:
    """Say it in the words of what it finds: the query with a hit's own category, and that category alone."""
    asked = {word.casefold() for word in _WORD.findall(query)}
    counts: dict[str, int] = {}
    for hit in result.hits:
        for word in dict.fromkeys(_words_of(hit, context)):
            if word not in asked:
                counts[word] = counts.get(word, 0) + 1
    shared = [word for word, count in sorted(counts.items(), key=lambda entry: -entry[1]) if count > 1]
    if not shared:
        return ()
    added = shared[:_ADDED_WORDS]
    return tuple(dict.fromkeys([f"{query} {word}" for word in added] + [" ".join(added)]))[:MAX_PARAPHRASES]


def _words_of(hit: Hit, context: ToolContext) -> list[str]:
    roles = context.profile.roles
    names = (roles.title, roles.scope, roles.tags)
    text = " ".join(str(hit.get(name, "")) for name in names if name)
    return [word for word in _WORD.findall(text.casefold()) if len(word) >= _MIN_WORD and word.isalpha()]
