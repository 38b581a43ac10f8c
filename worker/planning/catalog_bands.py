"""Divides one category by price, where nothing else differs: "Candles Under €25"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search_proxy.filters import Filter, RangeFilter
from search_proxy.models import Hit
from worker.planning.catalog_labels import category_label, clip, money
from worker.planning.catalog_roles import Roles
from worker.planning.catalog_rows import MINIMUM_HITS, Row, scoped

_PRICE_BANDS = 3
_MIN_BAND_HITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBand:
    """A band of prices, None open; `lower` belongs to it, `upper` to the next."""

    lower: float | None
    upper: float | None


def price_bands(hits: Sequence[Hit], price: str | None) -> list[PriceBand]:
    """Return three bands with round limits that divide the hits' prices, or none where they are alike."""
    prices = sorted(
        float(value)
        for hit in hits
        if price is not None
        and isinstance(value := hit.get(price), int | float)
        and not isinstance(value, bool)
    )
    if len(prices) < _MIN_BAND_HITS:
        return []
    limits = [_round_price(prices[len(prices) * part // _PRICE_BANDS]) for part in range(1, _PRICE_BANDS)]
    if limits[0] >= limits[1] or prices[0] >= limits[0]:
        return []
    return [
        PriceBand(lower=None, upper=limits[0]),
        PriceBand(lower=limits[0], upper=limits[1]),
        PriceBand(lower=limits[1], upper=None),
    ]


def band_rows(
    category: str,
    scope: Filter | None,
    bands: Sequence[PriceBand],
    counts: Mapping[str, Any],
    roles: Roles,
    hits: Sequence[Hit],
) -> list[Row]:
    """Return the price bands of one category as rows, cheapest first."""
    rows: list[Row] = []
    currency = next((str(hit["currency"]) for hit in hits if hit.get("currency")), None)
    thing = category_label(category) if category else ""
    for band in bands:
        products = facet_count(counts.get(band_name(band)))
        if products < MINIMUM_HITS or roles.price is None:
            continue
        wanted = RangeFilter(roles.price, _plain_number(band.lower), _below(band.upper))
        rows.append(
            Row(
                label=clip(f"{thing} {_band_words(band, currency)}".strip()),
                filter=scoped(scope, wanted),
                share=1 / _PRICE_BANDS,
                hits=frozenset(str(hit["_id"]) for hit in hits if _in_band(hit.get(roles.price), band)),
                products=products,
                category=category,
            )
        )
    return rows


def band_name(band: PriceBand) -> str:
    """Return the name under which a band is counted."""
    return f"{band.lower if band.lower is not None else '*'}-{band.upper if band.upper is not None else '*'}"


def facet_count(facet: Any) -> int:
    """Return the count of a facet's value, 0 where there is none."""
    return int(facet.get("count", 0)) if isinstance(facet, Mapping) else 0


def _round_price(price: float) -> float:
    """Round to what a price list would say: 5s below 50, 10s below 200, 50s below 1,000, then 100s."""
    step = next(
        step
        for limit, step in ((10, 1), (50, 5), (200, 10), (1_000, 50), (float("inf"), 100))
        if price < limit
    )
    return float(round(price / step) * step)


def _plain_number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def _below(upper: float | None) -> float | None:
    return None if upper is None else round(upper - 0.01, 2)


def _band_words(band: PriceBand, currency: str | None) -> str:
    if band.lower is None:
        return f"Under {money(band.upper or 0, currency)}"
    if band.upper is None:
        return f"From {money(band.lower, currency)}"
    return f"{money(band.lower, currency)} to {money(band.upper, currency)}"


def _in_band(value: Any, band: PriceBand) -> bool:
    if not isinstance(value, int | float):
        return False
    return (band.lower is None or value >= band.lower) and (band.upper is None or value < band.upper)
