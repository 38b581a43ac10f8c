"""Writes the model call that asks for a summary: no functions, no schema, only what was found.

Product lines are JSON, so that an id and a title cannot be confused whatever they contain, and stand
inside a fence, since a catalog's text may be anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONEncoder

from search_proxy.models import Hit
from worker.llm.language_model import Message, ModelRequest
from worker.llm.prompts import fenced, read_prompt
from worker.summary_request import SummaryRequest, hit_price, hit_title, price_text

_as_json = JSONEncoder(ensure_ascii=False).encode
_CHARACTERS_PER_TOKEN = 4
HITS_PER_CATEGORY = 4
"""What a category shows a shopper at a glance."""
_FACET_FIELDS = 6
_FACET_VALUES = 5
_MAX_QUERY = 2000
_OWN_INSTRUCTIONS = "The shop's own instructions, where they do not contradict these:"


def summary_call(
    request: SummaryRequest, *, model: str, max_output_tokens: int, max_found_tokens: int
) -> ModelRequest:
    """Return the call; what was found is cut to `max_found_tokens`."""
    system = [read_prompt("summary")]
    if request.system_prompt:
        system.append(
            f"The shop's own instructions, where they do not contradict these:\n{request.system_prompt}"
        )
    found = _within(_found_lines(request), max_found_tokens * _CHARACTERS_PER_TOKEN)
    asked = f"The shopper asked: {request.query[:_MAX_QUERY]}\n\n{fenced('found_products', found)}"
    return ModelRequest(
        model=model,
        system="\n\n".join(system),
        messages=(Message(role="user", text=asked),),
        max_output_tokens=max_output_tokens,
    )


def _found_lines(request: SummaryRequest) -> Iterator[str]:
    if request.total:
        yield f"{request.total} products match the request's own words"
    yield "Each product is [id, title, price]"
    for category in request.categories:
        yield f"{_as_json(category.label)}: {category.total} products"
        yield from (_line(hit) for hit in category.hits[:HITS_PER_CATEGORY])
    if not request.categories:
        yield from (_line(hit) for hit in request.hits[: 2 * HITS_PER_CATEGORY])
    for name, counts in list(request.facets.items())[:_FACET_FIELDS]:
        values = [f"{value} {count['count']}" for value, count in counts.items() if _is_count(count)]
        if values:
            yield f"{name}: {', '.join(values[:_FACET_VALUES])}"


def _line(hit: Hit) -> str:
    price = hit_price(hit)
    row = [str(hit["_id"]), hit_title(hit)]
    return _as_json(row if price is None else [*row, price_text(price, hit.get("currency"))])


def _is_count(count: object) -> bool:
    return isinstance(count, dict) and "count" in count


def _within(lines: Iterator[str], characters: int) -> str:
    kept: list[str] = []
    for line in lines:
        characters -= len(line) + 1
        if characters < 0:
            break
        kept.append(line)
    return "\n".join(kept)
