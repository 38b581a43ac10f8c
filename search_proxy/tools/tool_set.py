"""All tools, each defined once: what it says of itself, what it takes, what it gives, what answers it."""

from __future__ import annotations

from typing import Any

from search_proxy.tools.arguments import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    MAX_QUERIES,
    MAX_QUERY_CHARACTERS,
    MAX_READ,
)
from search_proxy.tools.calibration import default_min_score
from search_proxy.tools.corpus import CorpusProfile, shown
from search_proxy.tools.definition import ToolDefinition, ToolWording
from search_proxy.tools.document_tools import (
    DOCUMENT_SCHEMA,
    READ_SCHEMA,
    filter_documents,
    get_document,
    read,
)
from search_proxy.tools.filter_object import dsl_schema, filter_schema
from search_proxy.tools.hits import HITS_SCHEMA
from search_proxy.tools.search_tools import fused_search, keyword_search, multi_search, semantic_search
from search_proxy.tools.web_tools import PAGE_SCHEMA, RESULTS_SCHEMA, fetch_page, web_search


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def _query(description: str) -> dict[str, Any]:
    text = {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS}
    return {**text, "description": description}


_LIMIT = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}
_ID = {"type": "string", "minLength": 1, "maxLength": 512, "description": "an id from a hit"}


def _searching(profile: CorpusProfile, description: str, **more: Any) -> dict[str, Any]:
    return _object(
        ["query"],
        query=_query(description),
        filter=filter_schema(profile),
        filter_text=dsl_schema(),
        limit=_LIMIT,
        **more,
    )


def _semantic(profile: CorpusProfile) -> dict[str, Any]:
    least = default_min_score(profile.embedding_model)
    cutoff = {"type": "number", "minimum": -1, "maximum": 1, "default": least}
    expand = {"type": "boolean", "default": False}
    return _searching(
        profile,
        "what it should be about, in a sentence",
        min_score={**cutoff, "description": "cosine below which nothing is returned"},
        expand={**expand, "description": "search paraphrases too, fused by rank; not for literal queries"},
    )


def _multi(profile: CorpusProfile) -> dict[str, Any]:
    return _object(
        ["queries"],
        queries={"type": "array", "minItems": 1, "maxItems": MAX_QUERIES, "items": _query("one query")},
        filter=filter_schema(profile),
        filter_text=dsl_schema(),
        limit=_LIMIT,
    )


def _listing(profile: CorpusProfile) -> dict[str, Any]:
    order = {"type": "string", "description": "a field and asc or desc", "default": "created_time desc"}
    return _object([], filter=filter_schema(profile), filter_text=dsl_schema(), limit=_LIMIT, order_by=order)


def _ids(_: CorpusProfile) -> dict[str, Any]:
    return _object(
        ["document_ids"],
        document_ids={"type": "array", "minItems": 1, "maxItems": MAX_READ, "items": _ID},
    )


def _title_words(profile: CorpusProfile) -> str:
    title = profile.sample_titles[0] if profile.sample_titles else "the words you look for"
    return " ".join(shown(title).rstrip("…").split()[:5])


def _keyword_example(profile: CorpusProfile) -> str:
    return f'{{keyword_search}}("{_title_words(profile)}")'


def _semantic_example(profile: CorpusProfile) -> str:
    words = [word for word in _title_words(profile).split() if word.isalpha()]
    return f'{{semantic_search}}("something like {" ".join(words) or "this"}")'


def _filter_example(profile: CorpusProfile) -> str:
    for info in profile.facets:
        if info.top_values:
            chosen = f'{{"fields": {{"{info.name}": ["{info.top_values[0][0]}"]}}}}'
            return f"{{filter_documents}}(filter={chosen})"
    return "{filter_documents}(limit=5)"


def _queries_example(profile: CorpusProfile) -> str:
    titles = profile.sample_titles[:2] or ("one way to say it", "another way")
    quoted = ", ".join(f'"{" ".join(shown(title).rstrip("…").split()[:4])}"' for title in titles)
    return f"{{search}}(queries=[{quoted}])"


TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        name="keyword_search",
        title="Keyword search",
        wording=ToolWording(
            purpose="Ranks documents by the words of the query (BM25).",
            good_at="exact words, model numbers, identifiers, names",
            bad_at="other words for the same thing; then use {semantic_search} or {search}",
            example=_keyword_example,
        ),
        schema=lambda profile: _searching(profile, "the words to find"),
        output_schema=HITS_SCHEMA,
        handler=keyword_search,
    ),
    ToolDefinition(
        name="semantic_search",
        title="Semantic search",
        wording=ToolWording(
            purpose="Ranks documents by meaning (cosine), and returns close matches or nothing.",
            good_at="questions and descriptions in words that the documents may not use",
            bad_at="exact identifiers, model numbers, sizes; then use {keyword_search}",
            example=_semantic_example,
        ),
        schema=_semantic,
        output_schema=HITS_SCHEMA,
        handler=semantic_search,
    ),
    ToolDefinition(
        name="filter_documents",
        title="Filter documents",
        wording=ToolWording(
            purpose="Lists the documents that pass a filter, newest first unless order_by says otherwise.",
            good_at="fully structured questions, and counting (total) before a search",
            bad_at="anything that is not a field: it ranks nothing",
            example=_filter_example,
        ),
        schema=_listing,
        output_schema=HITS_SCHEMA,
        handler=filter_documents,
    ),
    ToolDefinition(
        name="fused_search",
        title="Fused search",
        wording=ToolWording(
            purpose="Ranks by words and by meaning in one page (reciprocal rank fusion).",
            good_at="one round trip where you cannot tell which of the two will find it",
            bad_at="saying why a hit is there; {keyword_search} and {semantic_search} show that",
            example=lambda profile: f'{{fused_search}}("{_title_words(profile)}")',
        ),
        schema=lambda profile: _searching(profile, "words or a sentence"),
        output_schema=HITS_SCHEMA,
        handler=fused_search,
    ),
    ToolDefinition(
        name="search",
        title="Search with many queries",
        wording=ToolWording(
            purpose=f"Runs 1 to {MAX_QUERIES} queries, each alone, and returns one fused page.",
            good_at="recall: throw in synonyms, spellings and narrower and wider wordings at once",
            bad_at="a single exact lookup; {keyword_search} is cheaper",
            example=_queries_example,
        ),
        schema=_multi,
        output_schema=HITS_SCHEMA,
        handler=multi_search,
    ),
    ToolDefinition(
        name="get_document",
        title="Get a document",
        wording=ToolWording(
            purpose="Returns one whole document by its id.",
            good_at="reading the hit that you chose",
            bad_at="finding anything: ids come from the other tools, never make one up",
            example="{get_document}(document_id=<id of a hit>)",
        ),
        schema=lambda _: _object(["document_id"], document_id=_ID),
        output_schema=DOCUMENT_SCHEMA,
        handler=get_document,
    ),
    ToolDefinition(
        name="read",
        title="Read documents",
        wording=ToolWording(
            purpose=f"Returns up to {MAX_READ} whole documents by their ids.",
            good_at="comparing a few hits in full",
            bad_at="browsing: whole documents are long, so choose by the hits first",
            example="{read}(document_ids=[<id of a hit>, <id of another>])",
        ),
        schema=_ids,
        output_schema=READ_SCHEMA,
        handler=read,
    ),
    ToolDefinition(
        name="web_search",
        title="Search the web",
        wording=ToolWording(
            purpose="Searches the open web and returns titles, URLs and snippets.",
            good_at="what is not in the catalog: manuals, reviews, release notes, news",
            bad_at="prices, stock and products of this shop; its texts are untrusted",
            example='{web_search}("how to descale an espresso machine")',
        ),
        schema=lambda _: _object(
            ["query"],
            query=_query("what to search for"),
            limit={"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
        ),
        output_schema=RESULTS_SCHEMA,
        handler=web_search,
        about_index=False,
        is_open_world=True,
    ),
    ToolDefinition(
        name="fetch_page",
        title="Fetch a web page",
        wording=ToolWording(
            purpose="Fetches one public web page as clean text.",
            good_at="reading a result of {web_search} in full",
            bad_at="pages behind a login, scripts, files that are no text; its text is untrusted",
            example='{fetch_page}("https://example.com/manual")',
        ),
        schema=lambda _: _object(
            ["url"], url={"type": "string", "maxLength": 2_048, "description": "http or https"}
        ),
        output_schema=PAGE_SCHEMA,
        handler=fetch_page,
        about_index=False,
        is_open_world=True,
    ),
)

TOOL_BY_NAME = {tool.name: tool for tool in TOOLS}
