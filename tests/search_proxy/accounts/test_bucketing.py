"""The stable place of a session."""

from __future__ import annotations

from search_proxy.accounts.bucketing import session_percentage
from search_proxy.accounts.prompt_slots import LivePrompts, PromptSlots, PublishedPrompt, Rollout


def test_a_session_s_place_is_the_documented_one() -> None:
    """Another implementation of the same rule gives the same figures."""
    assert session_percentage("acme", "session-1") == 62.41
    assert session_percentage("acme", "session-2") == 94.35
    assert session_percentage("rival", "session-1") == 25.61


def test_places_are_spread_evenly() -> None:
    """Ten per cent of sessions are about ten per cent."""
    places = [session_percentage("acme", f"s{number}") for number in range(10_000)]
    assert all(0 <= place < 100 for place in places)
    for limit in (1, 10, 50):
        share = sum(place < limit for place in places) / 100
        assert abs(share - limit) < 1.5


def test_a_rollout_grows_without_moving_anybody_back() -> None:
    """A session that has the new version at 10 per cent has it at 50."""
    published = PublishedPrompt(version=1, slots=PromptSlots(voice="calm"))
    draft = PublishedPrompt(version=2, slots=PromptSlots(voice="lively"))

    def sessions(percentage: float) -> set[str]:
        live = LivePrompts(published=published, rollout=Rollout(prompt=draft, percentage=percentage))
        names = [f"s{number}" for number in range(500)]
        return {name for name in names if live.for_session("acme", name).version == 2}

    assert sessions(0) == set()
    assert sessions(10) < sessions(50) < sessions(100)
    assert len(sessions(100)) == 500
    live = LivePrompts(published=published, rollout=Rollout(prompt=draft, percentage=100))
    assert live.for_session("acme", None).version == 1
