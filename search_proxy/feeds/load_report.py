"""What the catalog commands say: the report of a load, the list of indexes, an index and its fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from search_proxy.feeds.loading import LoadReport, LoadTarget
from search_proxy.feeds.reader import Feed
from search_proxy.feeds.records import Refusal
from search_proxy.models import FieldInfo, IndexDescription

_UNFOUND = {"missing_id": "_id", "missing_title": "productTitle"}
_MAX_COLUMNS = 40
_MAX_FIELDS = 100


def describe_load(feed: Feed, target: LoadTarget, report: LoadReport, language: str | None = None) -> str:
    """Return the report of a load: what was read as what, how many products, what was refused."""
    return "".join(f"{line}\n" for line in _load_lines(feed, target, report, language))


def list_indexes(account_id: str, descriptions: Sequence[IndexDescription]) -> str:
    """Return a table of the account's indexes."""
    if not descriptions:
        return f"account {account_id!r} has no index; load one with: aisle catalog load INDEX FILE\n"
    header = ("index", "products", "documents", "fields", "category field")
    rows = [
        (
            one.index,
            f"{one.products:,}",
            f"{one.documents:,}",
            str(len(one.fields)),
            one.category_field or "-",
        )
        for one in descriptions
    ]
    return _table([header, *rows])


def describe_index(description: IndexDescription) -> str:
    """Return an index's size and its fields, those that most documents have first."""
    fields = sorted(description.fields, key=lambda field: (-field.documents, field.name))
    rows = [("field", "type", "documents", "distinct", "values")]
    rows += [
        (_printable(field.name), field.kind, f"{field.documents:,}", f"{field.distinct:,}", _values(field))
        for field in fields[:_MAX_FIELDS]
    ]
    more = f"and {len(fields) - _MAX_FIELDS:,} fields more\n" if len(fields) > _MAX_FIELDS else ""
    facts = (
        f"{description.products:,} products",
        f"{description.documents:,} documents",
        f"language {description.language}",
        f"category field {description.category_field or '-'}",
        f"generation {description.generation}",
    )
    return f"index {description.index!r}: {', '.join(facts)}\n{_table(rows)}{more}"


def _load_lines(feed: Feed, target: LoadTarget, report: LoadReport, language: str | None) -> Iterator[str]:
    refused = sum(report.refused.values())
    yield f"loaded {report.loaded:,} products into {target.index!r} ({feed.format}), refused {refused:,}"
    if language is not None:
        yield f"language {language}"
    if report.categories_derived:
        yield f"derived a category for {report.categories_derived:,} products that have none"
    yield "columns:"
    columns = list(feed.columns.items())
    for column, name in columns[:_MAX_COLUMNS]:
        yield f"  {_printable(column)} → {'their own names' if name == '*' else _printable(name)}"
    if len(columns) > _MAX_COLUMNS:
        yield f"  and {len(columns) - _MAX_COLUMNS:,} more, under their own names"
    for column in feed.missing_columns:
        yield f"  {_printable(column)} was named and never seen"
    for kind, field in _UNFOUND.items():
        if not report.loaded and report.refused[kind]:
            yield f"  no column was taken for the {field}; say which one it is: --map {field}=COLUMN"
    if refused:
        yield "refused:"
        for kind, count in report.refused.most_common():
            yield f"  {count:,} {kind.replace('_', ' ')}"
        for refusal in report.examples:
            yield f"  {_refusal(refusal)}"
        if refused > len(report.examples):
            yield f"  and {refused - len(report.examples):,} more"


def _refusal(refusal: Refusal) -> str:
    where = f"line {refusal.line}" + (f", {_printable(refusal.field)}" if refusal.field else "")
    return f"{where}: {_printable(refusal.reason)}"


def _values(field: FieldInfo) -> str:
    if field.minimum is not None and field.maximum is not None:
        return f"{field.minimum:g} to {field.maximum:g}"
    shown = ", ".join(f"{_printable(value)[:30]} ({count:,})" for value, count in field.top_values[:4])
    return shown


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "".join(f"{line}\n" for line in lines)


def _printable(text: str) -> str:
    # A feed's text must not be able to steer the terminal.
    return "".join(character if character.isprintable() else "·" for character in text)
