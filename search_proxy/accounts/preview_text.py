"""A preview as text for a terminal: for every query what differs between draft and published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from search_proxy.accounts.prompt_preview import Comparison, PreviewCategory, QueryPreview

_SHOWN_HITS = 3


def preview_text(comparisons: Sequence[Comparison]) -> str:
    """Return every comparison, the draft above the published prompt."""
    return "\n\n".join("\n".join(_comparison(comparison)) for comparison in comparisons)


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"== {comparison.query}"
    same = _essence(comparison.draft) == _essence(comparison.published)
    yield from _preview("draft", comparison.draft)
    if same:
        yield f"   published: the same{_cost(comparison.published)}"
    else:
        yield from _preview("published", comparison.published)


def _preview(name: str, preview: QueryPreview) -> Iterator[str]:
    version = f"version {preview.prompt_version}" if preview.prompt_version else "no version"
    yield f"   {name} ({version}, {preview.source}){_cost(preview)}"
    for category in preview.categories:
        yield f"     {category.label}  [{category.query}]  {category.confidence:.2f}{_found(category)}"
        for hit in category.hits[:_SHOWN_HITS]:
            yield f"       {hit.get('_id', '')}  {hit.get('title', '')}"
    if preview.summary:
        yield f"     {' '.join(preview.summary.split())}"
    for warning in preview.warnings:
        yield f"     warning: {warning}"


def _found(category: PreviewCategory) -> str:
    if category.error is not None:
        return f"  failed: {category.error}"
    applied = f"  {category.filter}" if category.filter else ""
    dropped = "  (the draft's own filter found nothing and was dropped)" if category.filter_dropped else ""
    return f"  {category.total_hits} hits{applied}{dropped}"


def _cost(preview: QueryPreview) -> str:
    tokens = f", {preview.input_tokens} + {preview.output_tokens} tokens" if preview.input_tokens else ""
    return f"{tokens}, {preview.total_ms:.0f} ms"


def _essence(preview: QueryPreview) -> tuple[object, ...]:
    rows = tuple(
        (category.label, category.query, category.filter, tuple(str(hit.get("_id")) for hit in category.hits))
        for category in preview.categories
    )
    return rows, preview.summary
