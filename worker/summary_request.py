"""What a summary is written from: the request, and what was really sent in this stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from search_proxy.models import Hit
from worker.planning.plan import TokenUsage

TITLE_FIELDS = ("productTitle", "variantTitle", "title", "name")
"""Where a product's title stands, the best first."""

_REMEMBERED = ("_id", *TITLE_FIELDS, "price", "currency")
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
_WITHOUT_CENTS = frozenset({"JPY", "KRW"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCategory:
    """A category as it was sent; `total` is how many products its search matched."""

    label: str
    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What to summarise. `hits` and `total` are those of the shopper's own query.

    `facets` is the wire form of a search's facets. `clickable` False asks for plain text.
    """

    query: str
    categories: tuple[SummaryCategory, ...] = ()
    hits: tuple[Hit, ...] = ()
    total: int | None = None
    facets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    clickable: bool = True
    system_prompt: str | None = None
    locale: str = "en"

    def sent_hits(self) -> Iterator[Hit]:
        """Yield every hit that was sent, once per id, those of the categories first."""
        seen: dict[str, Hit] = {}
        for hits in (*(category.hits for category in self.categories), self.hits):
            for hit in hits:
                seen.setdefault(str(hit["_id"]), hit)
        yield from seen.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryReport:
    """How a summary went; `text` is all of it, as it was emitted."""

    text: str
    source: Literal["llm", "rules"]
    model: str | None = None
    usage: TokenUsage = TokenUsage()
    warnings: tuple[str, ...] = ()
    ungrounded_links: int = 0
    """Links that were made plain text, because this stream sent nothing of that id."""
    complete: bool = True
    """False where something failed on the way, so that the answer must not be cached."""


def as_remembered(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return of hits that were sent what a summary speaks of: a tenth of what a product takes."""
    return tuple([{name: hit[name] for name in _REMEMBERED if name in hit} for hit in hits])


def hit_title(hit: Hit) -> str:
    """Return the product's title in one line; its id where it has none."""
    for name in TITLE_FIELDS:
        text = hit.get(name)
        if isinstance(text, str) and (title := " ".join(text.split())):
            return title[:120]
    return str(hit["_id"])


def hit_price(hit: Hit) -> float | None:
    """Return the product's price, or None."""
    price = hit.get("price")
    return float(price) if isinstance(price, int | float) and not isinstance(price, bool) else None


def price_text(price: float, currency: object) -> str:
    """Return a price as a shopper reads it: `$12`, `12.50 SEK`, or the number alone."""
    code = currency.upper() if isinstance(currency, str) else ""
    number = f"{price:,.0f}" if price == int(price) or code in _WITHOUT_CENTS else f"{price:,.2f}"
    if code in _SIGNS:
        return _SIGNS[code] + number
    return f"{number} {code}".strip()
