"""`aisle catalog enrich INDEX`: says what it would cost, then writes; it can be stopped and started again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from search_proxy.backend import CatalogWriter
from search_proxy.enrichment.journal import Journal
from search_proxy.enrichment.run import (
    DEFAULT_AT_ONCE,
    DocumentSource,
    EnrichmentPlan,
    EnrichmentReport,
    index_enrichments,
    plan_enrichment,
    write_enrichments,
    write_from_catalog,
)
from search_proxy.enrichment.writing import EnrichmentModel
from search_proxy.errors import SearchError

MAX_AT_ONCE = 64


class EnrichmentServices(Protocol):
    """What the command needs of the process."""

    @property
    def catalog(self) -> CatalogWriter:
        """The catalog to write."""
        ...

    @property
    def documents(self) -> DocumentSource | None:
        """Every document of an index, where the engine can give them."""
        ...

    @property
    def enrichment_model(self) -> EnrichmentModel | None:
        """The model that writes, where one is set up."""
        ...

    @property
    def enrichment_folder(self) -> Path:
        """Where the journals are, one per account and index."""
        ...


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("--estimate", action="store_true", help="only say how many tokens it would take")
    parser.add_argument(
        "--from-catalog",
        action="store_true",
        help="write what the catalog's own terms say, without a model and without tokens",
    )
    parser.add_argument(
        "--at-once", type=_at_once, default=DEFAULT_AT_ONCE, metavar="N", help="model calls at a time"
    )
    parser.add_argument(
        "--progress", action="store_true", help="show progress even where stderr is no terminal"
    )


async def enrich(args: argparse.Namespace, services: EnrichmentServices) -> int:
    """Run the command and return its status."""
    source = services.documents
    if source is None:
        return _failed("this search engine does not give its documents; enrich them before loading")
    journal = Journal(services.enrichment_folder / args.account / f"{args.index}.jsonl")
    try:
        by_model = not args.from_catalog
        plan = await plan_enrichment(source, args.account, args.index, journal, by_model=by_model)
        sys.stdout.write(_estimate(plan) if by_model else _waiting(plan))
        sys.stdout.flush()
        if args.estimate:
            return 0
        report = EnrichmentReport()
        if args.from_catalog:
            await write_from_catalog(source, args.account, args.index, plan, journal, report)
        elif plan.waiting:
            model = services.enrichment_model
            if model is None:
                return _failed("no model is set up: set GOOGLE_API_KEY, or write --from-catalog")
            await _write(args, plan, model, journal, report)
        await index_enrichments(source, services.catalog, args.account, args.index, journal, report)
    except SearchError as error:
        return _failed(str(error))
    finally:
        journal.close()
    sys.stdout.write(_said(report))
    return 1 if report.failed else 0


async def _write(
    args: argparse.Namespace,
    plan: EnrichmentPlan,
    model: EnrichmentModel,
    journal: Journal,
    report: EnrichmentReport,
) -> None:
    hidden = not (args.progress or sys.stderr.isatty())
    total = len(plan.waiting)
    with tqdm(desc="enriching", total=total, unit=" documents", disable=hidden, file=sys.stderr) as bar:

        def move(done: int) -> None:
            bar.update(done - bar.n)

        await write_enrichments(plan, model, journal, report, at_once=args.at_once, on_progress=move)


def _estimate(plan: EnrichmentPlan) -> str:
    read, written = plan.tokens()
    return f"{_waiting(plan).rstrip()}: about {read:,} tokens to read and {written:,} to write\n"


def _waiting(plan: EnrichmentPlan) -> str:
    return f"{len(plan.waiting):,} of {plan.documents:,} documents are new or changed\n"


def _said(report: EnrichmentReport) -> str:
    lines = [f"wrote {report.written:,}, indexed {report.indexed:,}, failed {report.failed:,}"]
    lines += [f"failed {name}: {reason}" for name, reason in report.failures]
    if report.failed:
        lines.append("run the command again for what failed")
    return "".join(f"{line}\n" for line in lines)


def _at_once(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= MAX_AT_ONCE):
        raise argparse.ArgumentTypeError(f"expected 1 to {MAX_AT_ONCE}, found {text!r}")
    return int(text)


def _failed(message: str) -> int:
    sys.stderr.write(f"aisle: {message}\n")
    return 1
