"""Writes a tool's description: what it is for, good at and bad at, an example, its cost, and the corpus.

The description is all that a model knows before it chooses. Everything said of the corpus is read from the
index, with the caller's rights; nothing is said that was not measured or counted.
"""

from __future__ import annotations

import re
from collections.abc import Set

from search_proxy.tools.context import NameOf
from search_proxy.tools.corpus import CorpusProfile
from search_proxy.tools.costs import ToolCost
from search_proxy.tools.dates import written
from search_proxy.tools.definition import ToolDefinition
from search_proxy.tools.filter_object import filter_summary
from search_proxy.web.tier import WebTier

MAX_EXAMPLE_FACETS = 6

_PLACE = re.compile(r"\{(\w+)\}")
_LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian"}


def describe_tool(
    tool: ToolDefinition,
    profile: CorpusProfile,
    cost: ToolCost | None,
    offered: Set[str],
    name_of: NameOf,
    missing: str | None = None,
) -> str:
    """Return the whole description of a tool for one corpus and one caller; `missing` says what it lacks."""
    example = tool.wording.example if isinstance(tool.wording.example, str) else tool.wording.example(profile)
    lines = [
        tool.wording.purpose,
        f"Good at: {tool.wording.good_at}.",
        f"Bad at: {tool.wording.bad_at}.",
        f"Example: {example}",
    ]
    if tool.about_index:
        lines.append(f"Cost: {cost.sentence() if cost else 'not measured here'}.")
        lines.append(describe_corpus(profile))
    else:
        lines.append("Cost: a call to another server, seconds rather than milliseconds.")
    if missing is not None:
        lines.insert(1, f"Not available now: {missing}.")
    return _named("\n".join(lines), offered, name_of)


def why_unavailable(name: str, profile: CorpusProfile, web: WebTier) -> str | None:
    """Return what keeps a tool from answering any call at all here, or None where nothing does."""
    if name == "semantic_search" and not profile.has_vectors:
        return "this index has no vectors; use {keyword_search}"
    if name == "web_search" and web.searcher is None:
        return "no provider of web search has a key here"
    if name == "fetch_page" and web.fetcher is None:
        return "fetching pages is switched off here"
    return None


def describe_corpus(profile: CorpusProfile) -> str:
    """Return what the corpus is: name, size, language, fields with their commonest values, prices, dates."""
    language = _LANGUAGES.get(profile.language, profile.language)
    parts = [f"Corpus: index {profile.index!r}, {profile.documents} documents, in {language}."]
    roles = profile.roles
    shown = [name for name in (roles.author,) if name and profile.fields[name].top_values]
    shown += [info.name for info in profile.facets[:MAX_EXAMPLE_FACETS] if info.name not in shown]
    if shown:
        parts.append(f"Fields: {filter_summary(shown, profile.fields)}.")
    if roles.price is not None:
        price = profile.fields[roles.price]
        if price.minimum is not None and price.maximum is not None:
            parts.append(f"Prices from {price.minimum:g} to {price.maximum:g}.")
    if profile.created_span is not None:
        first, last = profile.created_span
        parts.append(f"Dated from {written(first)} to {written(last)} (field {roles.created!r}).")
    return " ".join(parts)


def _named(text: str, offered: Set[str], name_of: NameOf) -> str:
    """Put the face's names where the text has places; a tool that is not offered keeps its plain name."""

    def name(found: re.Match[str]) -> str:
        return name_of(found.group(1)) if found.group(1) in offered else found.group(1)

    return _PLACE.sub(name, text)
