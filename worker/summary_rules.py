"""A short honest sentence about what was found, written by rules.

It stands in where there is no model or it fails; it says only what the search itself counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from search_proxy.models import Hit
from worker.summary_request import SummaryRequest, hit_price, hit_title, price_text

_MAX_LABELS = 4
_UNLINKABLE = frozenset("<>\n")


def rules_summary(request: SummaryRequest) -> str:
    """Return the summary, e.g. `Found 214 products. Look in Tents and Stoves, from $12 to $349.`."""
    sent = list(request.sent_hits())
    if not sent:
        return f"Nothing in this shop matches “{_one_line(request.query)}”."
    parts = [_found(request, len(sent)), _places(request, sent)]
    best = request.hits[0] if request.hits else sent[0]
    parts.append(f"The best match is {_named(best, clickable=request.clickable)}.")
    return " ".join(part for part in parts if part)


def _found(request: SummaryRequest, shown: int) -> str:
    if request.total:
        return f"Found {request.total:,} {'product' if request.total == 1 else 'products'}."
    return f"Here {'is 1 product' if shown == 1 else f'are {shown:,} products'}."


def _places(request: SummaryRequest, sent: Sequence[Hit]) -> str:
    labels = [_one_line(category.label) for category in request.categories if category.hits][:_MAX_LABELS]
    prices = _price_range(sent)
    if labels:
        return f"Look in {_listed(labels)}{f', {prices}' if prices else ''}."
    return f"{prices[0].upper()}{prices[1:]}." if prices else ""


def _price_range(sent: Sequence[Hit]) -> str:
    """Return the range of what is shown, or nothing where its prices have more than one currency."""
    priced = [(price, hit.get("currency")) for hit in sent if (price := hit_price(hit)) is not None]
    if not priced or len({str(currency) for _, currency in priced}) > 1:
        return ""
    currency = priced[0][1]
    lowest, highest = min(price for price, _ in priced), max(price for price, _ in priced)
    if lowest == highest:
        return f"for {price_text(lowest, currency)}"
    return f"from {price_text(lowest, currency)} to {price_text(highest, currency)}"


def _named(hit: Hit, *, clickable: bool) -> str:
    title = hit_title(hit).translate(str.maketrans("", "", "[]<>\\"))
    identifier = str(hit["_id"])
    if clickable and not _UNLINKABLE & set(identifier):
        return f"[{title}](<p:{identifier}>)"
    return title


def _listed(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def _one_line(text: str) -> str:
    return " ".join(text.translate(str.maketrans("", "", "[]<>\\")).split())[:120]
