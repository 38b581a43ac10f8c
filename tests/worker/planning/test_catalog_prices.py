"""What of a sentence is a price limit, and what is some other number."""

from __future__ import annotations

import pytest

from worker.planning.catalog_prices import find_price_limits


@pytest.mark.parametrize(
    ("sentence", "lower", "upper"),
    [
        ("red mug under 20", None, 20),
        ("between 20 and 40 euros", 20, 40),
        ("cheaper than $100", None, 100),
        ("lamp under $1,299.50", None, 1299.5),
        ("sofa below 1.200 euro", None, 1200),
        ("for 19,99€", None, 19.99),
        ("jackets around 80 euros", 64, 96),
        ("less than fifty dollars", None, 50),
        ("under a hundred euros", None, 100),
        ("$50 or less", None, 50),
        ("$100+ jackets", 100, None),
        ("at least 30 dollars", 30, None),
        ("laptop under 1k", None, 1000),
        ("$20 - $40 mug", 20, 40),
        ("tents over 100 and under 300", 100, 300),
        ("candle 30 euros", None, 30),
        ("Zelt unter 200 Euro", None, 200),
        ("moins de 50 euros", None, 50),
        ("nothing above 20 EUR", None, 20),
        ("betwen fifty and a hundred and twenty euros", 50, 120),
        ("twenty-five quid or less", None, 25),
        ("somewhere between three and five hundred", 300, 500),
        ("not more than two hundred", None, 200),
        ("under one thousand two hundred pounds", None, 1200),
        ("at 20 bucks tops", None, 20),
        ("£400-£700", 400, 700),
        ("at least 1.299,00 €", 1299, None),
    ],
)
def test_a_price_limit_is_read_in_the_words_that_people_use(
    sentence: str, lower: float | None, upper: float | None
) -> None:
    """Signs, words, marks and languages are all the same limit."""
    found = find_price_limits(sentence)
    assert (found.lower, found.upper) == (lower, upper)


@pytest.mark.parametrize(
    "sentence",
    [
        "bag under 2 kg",
        "lightweight tent for two people",
        "desk under 120cm",
        "shoes for women over 50",
        "toys for kids under 5",
        "backpack over 40 litres",
        "5-10 people tent",
        "windows 10",
        "3/4 size mattress",
        "100+ lumens",
        "monitor over 20 inches",
    ],
)
def test_a_number_of_something_else_is_no_price(sentence: str) -> None:
    """A unit, an age or a model number after the number says that money is not meant."""
    found = find_price_limits(sentence)
    assert (found.lower, found.upper, found.spans) == (None, None, ())


def test_limits_that_contradict_each_other_are_both_kept() -> None:
    """The sentence said so; that nothing can satisfy it is for the search to find out."""
    found = find_price_limits("over 20 under 10")
    assert (found.lower, found.upper) == (20, 10)


def test_the_words_of_a_limit_are_located_so_that_they_can_leave_the_query() -> None:
    """What was understood as a filter must not be searched for as well."""
    sentence = "tent under 400 for rain"
    assert [sentence[start:end] for start, end in find_price_limits(sentence).spans] == ["under 400"]
