"""Answers that a merchant has approved: shown, pinned until removed, and removed.

An approved answer is a plan and a summary like any other; its searches run fresh and its links are checked,
but neither time nor another prompt makes it stale (docs/caching.md).
"""

from __future__ import annotations

from typing import Any

import orjson

from cache.errors import CacheError, InvalidKey
from cache.keys import QueryKey
from cache.query_cache import QueryCache
from worker.errors import InvalidRequest, NotFound, UpstreamFailed
from worker.payload import MAX_CATEGORIES
from worker.planning.agent_filter import MAX_FILTER_CHARACTERS
from worker.planning.plan import PlanDecision, QueryExpansion, Strategy
from worker.stored_answer import StoredAnswer

MAX_SUMMARY_CHARACTERS = 5_000
_KEYS = ("query_expansions", "query_complements", "summary", "strategy")


def read_answer(body: bytes) -> StoredAnswer:
    """Return the answer that a merchant has written.

    `{"query_expansions": [["warm tent", "Tents", 0.9, "color:(green)"]], "summary": "...",
    "query_complements": ["stoves"]}`; confidence and filter may be left out.

    Raises:
        InvalidRequest: Something is wrong; the message says where.
    """
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"the answer is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise InvalidRequest("the answer must be a JSON object")
    unknown = sorted(set(data) - {*_KEYS, "format", "model", "message", "rewritten_query"})
    if unknown:
        raise InvalidRequest(f"{unknown[0]!r} is not part of an answer; known are {', '.join(_KEYS)}")
    rows = data.get("query_expansions")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_CATEGORIES:
        raise InvalidRequest(f"query_expansions must be a list of 1 to {MAX_CATEGORIES} rows")
    summary = data.get("summary") or ""
    if not isinstance(summary, str) or len(summary) > MAX_SUMMARY_CHARACTERS:
        raise InvalidRequest(f"summary must be text of at most {MAX_SUMMARY_CHARACTERS} characters")
    complements = data.get("query_complements") or []
    if not isinstance(complements, list) or not all(isinstance(text, str) for text in complements):
        raise InvalidRequest("query_complements must be a list of strings")
    return StoredAnswer(
        expansions=tuple(_expansion(row, f"query_expansions[{place}]") for place, row in enumerate(rows)),
        complements=tuple(complements[:8]),
        decision=PlanDecision(strategy=_strategy(data.get("strategy"))),
        summary=summary,
    )


async def show_answer(cache: QueryCache, account_id: str, index: str, query: str) -> dict[str, Any]:
    """Return the stored answer of a question, pinned or not.

    Raises:
        NotFound: There is none.
        UpstreamFailed: The table could not answer.
    """
    key = _key(account_id, index, query)
    try:
        entry = await cache.read(key)
    except CacheError as error:
        raise UpstreamFailed(f"the table could not answer: {error}") from error
    if entry is None:
        raise NotFound(f"no answer is stored for {query!r}")
    answer: dict[str, Any] = orjson.loads(entry.payload)
    return {"query": key.query, "pinned": entry.pinned, "createdAtMs": entry.created_at_ms, "answer": answer}


async def pin_answer(
    cache: QueryCache, account_id: str, index: str, query: str, answer: StoredAnswer
) -> None:
    """Approve an answer: it is served until it is removed.

    Raises:
        UpstreamFailed: The table could not take it.
    """
    try:
        await cache.pin(_key(account_id, index, query), answer.encode())
    except CacheError as error:
        raise UpstreamFailed(f"the table could not take it: {error}") from error


async def remove_answer(cache: QueryCache, account_id: str, index: str, query: str) -> None:
    """Remove a stored answer, pinned or not.

    Raises:
        NotFound: There is none.
        UpstreamFailed: A tier could not let go of it.
    """
    try:
        existed = await cache.delete(_key(account_id, index, query))
    except CacheError as error:
        raise UpstreamFailed(f"a tier could not let go of it: {error}") from error
    if not existed:
        raise NotFound(f"no answer is stored for {query!r}")


def _key(account_id: str, index: str, query: str) -> QueryKey:
    try:
        return QueryKey.of(account_id, index, query)
    except InvalidKey as error:
        raise InvalidRequest(str(error)) from error


def _expansion(row: object, where: str) -> QueryExpansion:
    if not isinstance(row, list) or not 2 <= len(row) <= 4:
        raise InvalidRequest(f"{where} must be [query, label, confidence?, filter?]")
    padded: list[object] = [*row, None, None]
    query, label, confidence, filter_text = padded[:4]
    if not isinstance(query, str) or not query.strip() or not isinstance(label, str) or not label.strip():
        raise InvalidRequest(f"{where} must begin with a query and a label")
    confidence = 1.0 if confidence is None else confidence
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidRequest(f"{where}[2] must be a number from 0 to 1, not {confidence!r}")
    if filter_text is not None and not isinstance(filter_text, str):
        raise InvalidRequest(f"{where}[3] must be a filter, not {filter_text!r}")
    if filter_text is not None and len(filter_text) > MAX_FILTER_CHARACTERS:
        raise InvalidRequest(f"{where}[3] has {len(filter_text)} characters; at most {MAX_FILTER_CHARACTERS}")
    return QueryExpansion(query=query, label=label, confidence=float(confidence), filter=filter_text or None)


def _strategy(value: object) -> Strategy | None:
    if value is None:
        return None
    try:
        return Strategy(str(value))
    except ValueError:
        known = ", ".join(strategy.value for strategy in Strategy)
        raise InvalidRequest(f"strategy must be one of {known}, not {value!r}") from None
