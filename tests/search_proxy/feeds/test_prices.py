"""Prices as merchants write them."""

from __future__ import annotations

import pytest

from search_proxy.feeds.prices import read_price
from search_proxy.feeds.records import Refused


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        (49.95, 49.95, None),
        (0, 0.0, None),
        ("49.95", 49.95, None),
        (" 49,95 ", 49.95, None),
        ("15.00 USD", 15.0, "USD"),
        ("EUR 15", 15.0, "EUR"),
        ("15 eur", 15.0, "EUR"),
        ("€ 1.299,00", 1299.0, "EUR"),
        ("$1,299.00", 1299.0, "USD"),
        ("1,299", 1299.0, None),
        ("1.299", 1.299, None),
        ("1.299.000", 1299000.0, None),
        ("1 299,50 zł", 1299.5, "PLN"),
        ("1\u202f299", 1299.0, None),
        ("1'299.50 CHF", 1299.5, "CHF"),
        (".5", 0.5, None),
        ("1e3", 1000.0, None),
    ],
)
def test_a_price_is_read_with_its_currency(written: object, amount: float, currency: str | None) -> None:
    """Points, commas, blanks and symbols of several countries."""
    assert read_price("price", written) == (amount, currency)


@pytest.mark.parametrize(
    "written",
    [
        *("", "free", "-5", "$-5", "1-2", "1,2,3", "12 50", "10 USD 5", "5 XXX", "USD 5 EUR"),
        *("nan", "-inf", "1e999", "9" * 101, True, None, [5], -0.01, float("nan"), float("inf")),
    ],
)
def test_what_is_no_price_is_refused(written: object) -> None:
    """Nothing is guessed from a text that is not wholly a price."""
    with pytest.raises(Refused) as refused:
        read_price("price", written)
    assert (refused.value.kind, refused.value.field) == ("bad_price", "price")
