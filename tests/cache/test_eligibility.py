"""Who is answered from the cache: by a pure function and a stable hash."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.eligibility import CacheCandidate, Ineligible, session_bucket, why_not, why_not_stored

PLAIN = CacheCandidate(account_id="acme", session="s1")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_conversation": True}, Ineligible.CONVERSATION),
        ({"has_images": True}, Ineligible.IMAGES),
        ({"is_personal": True}, Ineligible.PERSONAL),
        ({"has_uncovered_filter": True}, Ineligible.FILTERED),
        ({"has_key": False}, Ineligible.KEY),
    ],
)
def test_what_is_not_everybodys_answer_is_neither_read_nor_stored(
    change: dict[str, Any], reason: Ineligible
) -> None:
    """Conversations, images, personal and filtered requests go past the cache."""
    candidate = replace(PLAIN, **change)
    assert why_not(candidate, 100) is reason
    assert why_not_stored(candidate) is reason


def test_at_a_hundred_percent_everybody_is_and_at_none_nobody() -> None:
    """The ends of the scale are exact."""
    candidates = [replace(PLAIN, session=f"s{number}") for number in range(2000)]
    assert {why_not(candidate, 100) for candidate in candidates} == {None}
    assert {why_not(candidate, 0) for candidate in candidates} == {Ineligible.SESSION}


def test_a_share_of_the_sessions_is_answered_from_the_cache() -> None:
    """`cached_query_percentage`. Source: flow document, step 3."""
    inside = sum(why_not(replace(PLAIN, session=f"s{number}"), 30) is None for number in range(10_000))
    assert 2_800 < inside < 3_200


@given(st.text(max_size=30), st.text(max_size=30), st.integers(0, 100), st.integers(0, 100))
def test_raising_the_share_takes_nobody_out(account: str, session: str, one: int, two: int) -> None:
    """A shopper who had cached answers keeps them."""
    candidate = CacheCandidate(account_id=account, session=session)
    low, high = sorted((one, two))
    assert why_not(candidate, low) is not None or why_not(candidate, high) is None


def test_a_bucket_is_the_same_in_every_process_for_ever() -> None:
    """The value is part of the contract: a deployment must not reshuffle the shoppers."""
    assert [session_bucket("acme", f"s{number}") for number in range(4)] == [1056, 8578, 8314, 1499]


def test_the_border_between_account_and_session_is_part_of_the_hash() -> None:
    """`a` with session `bc` is another shopper than `ab` with session `c`."""
    assert session_bucket("a", "bc") != session_bucket("ab", "c")
