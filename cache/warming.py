"""Fills the cache before shoppers ask: one question after another, several at once, resumable.

The cache has no model. Whoever has one gives a `WarmPlanner`; a question that is stored with the tags
in use is skipped, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cache.errors import CacheError, InvalidKey
from cache.keys import QueryKey, normalize_query
from cache.query_cache import QueryCache

MAX_QUESTIONS = 1_000_000
MAX_CONCURRENCY = 64
MAX_TOLD = 20
"""Refused questions that a report names; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmAnswer:
    """A complete answer, ready to be stored."""

    payload: bytes
    tags: Mapping[str, str]


class WarmPlanner(Protocol):
    """Answers questions for `aisle cache warm`; the worker implements it over its planner."""

    async def expected_tags(self, account_id: str, index: str) -> Mapping[str, str]:
        """Return the tags that an answer made now would carry.

        Raises:
            CannotWarm: There is no such index, or it cannot be searched.
        """
        ...

    async def estimate_tokens(self, account_id: str, index: str, queries: Sequence[str]) -> int:
        """Return about how many tokens answering these questions will cost."""
        ...

    async def answer(self, account_id: str, index: str, query: str) -> WarmAnswer | None:
        """Return the answer, None where it is not complete and must not be stored.

        Raises:
            CannotWarm: There is no model, or the index cannot be searched; what was stored stays.
        """
        ...


@dataclass(slots=True)
class WarmReport:
    """What a run did."""

    stored: int = 0
    skipped: int = 0
    refused: int = 0
    """Not complete, not storable, or no question at all."""

    why: list[tuple[str, str]] = field(default_factory=list)
    """The first refused questions, each with the reason."""

    def refuse(self, question: str, reason: str) -> None:
        """Count a question that has no stored answer now, and remember the first ones."""
        self.refused += 1
        if len(self.why) < MAX_TOLD:
            self.why.append((question[:200], reason))


def read_questions(path: Path) -> list[str]:
    """Return the questions of a text file, one a line, blank lines and repeats left out.

    Raises:
        ValueError: There are more than `MAX_QUESTIONS`, or it is no UTF-8 text.
        OSError: The file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error}") from error
    questions = dict.fromkeys(line.strip() for line in lines)
    questions.pop("", None)
    if len(questions) > MAX_QUESTIONS:
        raise ValueError(
            f"{path} has {len(questions)} questions, at most {MAX_QUESTIONS} are warmed in one run"
        )
    return list(questions)


async def warm(
    cache: QueryCache,
    planner: WarmPlanner,
    *,
    account_id: str,
    index: str,
    questions: Sequence[str],
    concurrency: int,
    on_done: Callable[[], object] = lambda: None,
) -> WarmReport:
    """Answer and store every question that is not stored yet; `on_done` is called after each."""
    expected = await planner.expected_tags(account_id, index)
    report = WarmReport()
    pending = iter(questions)

    async def work() -> None:
        for question in pending:
            await _warm_one(cache, planner, account_id, index, question, expected, report)
            on_done()

    async with asyncio.TaskGroup() as group:
        for number in range(max(1, min(concurrency, MAX_CONCURRENCY))):
            group.create_task(work(), name=f"warm:{number}")
    return report


async def unanswered(
    cache: QueryCache, planner: WarmPlanner, *, account_id: str, index: str, questions: Sequence[str]
) -> list[str]:
    """Return the questions that have no answer with the tags in use."""
    expected = await planner.expected_tags(account_id, index)
    # Spellings that share a key share an answer, which is made once.
    different: dict[str, str] = {}
    for question in questions:
        different.setdefault(normalize_query(question), question)
    return [
        question
        for question in different.values()
        if not await _is_stored(cache, account_id, index, question, expected)
    ]


async def _is_stored(
    cache: QueryCache, account_id: str, index: str, question: str, expected: Mapping[str, str]
) -> bool:
    try:
        entry = await cache.read(QueryKey.of(account_id, index, question))
    except CacheError:
        return False
    return entry is not None and entry.tag_that_differs(expected) is None


async def _warm_one(
    cache: QueryCache,
    planner: WarmPlanner,
    account_id: str,
    index: str,
    question: str,
    expected: Mapping[str, str],
    report: WarmReport,
) -> None:
    try:
        key = QueryKey.of(account_id, index, question)
    except InvalidKey as error:
        report.refuse(question, str(error))
        return
    if await _is_stored(cache, account_id, index, question, expected):
        report.skipped += 1
        return
    answer = await planner.answer(account_id, index, question)
    if answer is None:
        report.refuse(question, "it has no complete answer of a model, such as a query of a word or two")
        return
    stored = await cache.store(key, answer.payload, answer.tags)
    if stored.table in ("stored", "kept"):
        report.stored += 1
    else:
        report.refuse(question, f"the table said {stored.table!r}")
