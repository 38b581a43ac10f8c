"""Enriches an index: what is new or has changed goes to the model, everything written goes into the index.

A run that was killed is resumed by starting it again: what is in the journal is not asked for twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from search_proxy.backend import CatalogWriter
from search_proxy.enrichment.catalog_terms import NAME as CATALOG
from search_proxy.enrichment.catalog_terms import CatalogTerms
from search_proxy.enrichment.journal import Journal
from search_proxy.enrichment.writing import (
    ANSWER_SCHEMA,
    INSTRUCTION,
    Enrichment,
    EnrichmentFailed,
    EnrichmentModel,
    enriched_text,
    estimated_tokens,
    hash_of,
    read_answer,
)
from search_proxy.models import Document

DEFAULT_AT_ONCE = 8
_PAGE = 500
_BATCH = 1_000
_MAX_FAILURES_SHOWN = 10


@runtime_checkable
class DocumentSource(Protocol):
    """Gives every document of an index, page by page."""

    async def document_page(
        self, account_id: str, index: str, after: int, limit: int
    ) -> tuple[Sequence[Document], int | None]:
        """Return documents from place `after` on, and the place of the next page, None after the last.

        Raises:
            IndexNotFound: The account has no such index.
        """
        ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """A document that the model has not seen in this state."""

    id: str
    text: str
    text_hash: str


@dataclass(slots=True)
class EnrichmentPlan:
    """What a run would do, known before it costs anything."""

    documents: int = 0
    waiting: list[Waiting] = field(default_factory=list)

    def tokens(self) -> tuple[int, int]:
        """Return about how many tokens the model would read and write."""
        return estimated_tokens(len(self.waiting), sum(len(one.text) for one in self.waiting))


@dataclass(slots=True)
class EnrichmentReport:
    """What came of a run; `failures` are the first documents without an answer, with the reason."""

    written: int = 0
    failed: int = 0
    indexed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


async def plan_enrichment(
    source: DocumentSource, account_id: str, index: str, journal: Journal, *, by_model: bool = True
) -> EnrichmentPlan:
    """Return which documents have no entry for the text that they have now.

    A model writes anew what the catalog's terms have written, and never the other way round.
    """
    plan = EnrichmentPlan()
    after: int | None = 0
    while after is not None:
        documents, after = await source.document_page(account_id, index, after, _PAGE)
        for document in documents:
            plan.documents += 1
            text = enriched_text(document)
            known = journal.entries.get(document["_id"])
            text_hash = hash_of(text)
            is_lesser = by_model and known is not None and known.model == CATALOG
            if known is None or known.text_hash != text_hash or is_lesser:
                plan.waiting.append(Waiting(document["_id"], text, text_hash))
    return plan


async def write_enrichments(
    plan: EnrichmentPlan,
    model: EnrichmentModel,
    journal: Journal,
    report: EnrichmentReport,
    *,
    at_once: int = DEFAULT_AT_ONCE,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Ask the model for every waiting document, `at_once` at a time; a failure is counted, not fatal."""
    waiting = iter(plan.waiting)

    async def work() -> None:
        for one in waiting:
            try:
                answer = await model.write(INSTRUCTION, one.text, ANSWER_SCHEMA)
                journal.add(read_answer(one.id, one.text_hash, model.name, answer))
                report.written += 1
            except EnrichmentFailed as error:
                report.failed += 1
                if len(report.failures) < _MAX_FAILURES_SHOWN:
                    report.failures.append((one.id, str(error)))
            on_progress(report.written + report.failed)

    async with asyncio.TaskGroup() as workers:
        for number in range(min(at_once, len(plan.waiting))):
            workers.create_task(work(), name=f"enrich:{number}")


async def write_from_catalog(
    source: DocumentSource,
    account_id: str,
    index: str,
    plan: EnrichmentPlan,
    journal: Journal,
    report: EnrichmentReport,
) -> None:
    """Write what the catalog's own terms say of every waiting document; of some they say nothing."""
    terms = CatalogTerms()
    async for document in _documents(source, account_id, index):
        terms.learn(document)
    hashes = {one.id: one.text_hash for one in plan.waiting}
    async for document in _documents(source, account_id, index):
        text_hash = hashes.get(document["_id"])
        entry = None if text_hash is None else terms.enrich(document, text_hash)
        if entry is not None:
            journal.add(entry)
            report.written += 1


async def _documents(source: DocumentSource, account_id: str, index: str) -> AsyncIterator[Document]:
    after: int | None = 0
    while after is not None:
        documents, after = await source.document_page(account_id, index, after, _PAGE)
        for document in documents:
            yield document


async def index_enrichments(
    source: DocumentSource,
    writer: CatalogWriter,
    account_id: str,
    index: str,
    journal: Journal,
    report: EnrichmentReport,
) -> None:
    """Write into the index what its documents do not have yet."""
    changed: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        documents, after = await source.document_page(account_id, index, after, _PAGE)
        for document in documents:
            entry = journal.entries.get(document["_id"])
            if entry is not None and entry.text_hash == hash_of(enriched_text(document)):
                fields = _fields(entry)
                if any(document.get(name) != value for name, value in fields.items()):
                    changed.append({**document, **fields})
    for start in range(0, len(changed), _BATCH):
        batch = changed[start : start + _BATCH]
        report.indexed += await writer.add_documents(account_id, index, batch)


def _fields(entry: Enrichment) -> dict[str, Any]:
    return {"enrichedKeywords": list(entry.keywords), "enrichedDescription": entry.description}
