"""The overlay never misses a key that no filter covers yet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cache.key_overlay import KeyOverlay

_FINGERPRINT = st.integers(min_value=0, max_value=2**64 - 1)


def test_a_key_is_there_as_soon_as_it_was_added() -> None:
    """Visible at once in this process."""
    overlay = KeyOverlay()
    assert 7 not in overlay
    overlay.add(7, 100)
    assert 7 in overlay


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "age"]), _FINGERPRINT, st.integers(min_value=0, max_value=50)),
        max_size=40,
    )
)
def test_a_key_written_after_the_covered_time_survives_every_swap(steps: list[tuple[str, int, int]]) -> None:
    """Whatever the order of writes and swaps, only what the newest filter covers may go."""
    overlay = KeyOverlay()
    written: dict[int, int] = {}
    covered = 0
    for step, fingerprint, at in steps:
        if step == "add":
            overlay.add(fingerprint, at)
            written[fingerprint] = max(at, written.get(fingerprint, 0))
        else:
            covered = max(covered, at)
            overlay.age(covered)
    assert all(fingerprint in overlay for fingerprint, at in written.items() if at >= covered)


def test_keys_that_a_new_filter_covers_are_let_go() -> None:
    """The overlay stays small however long a process runs."""
    overlay = KeyOverlay()
    for number in range(1000):
        overlay.add(number << 3, 100 + number)
    overlay.age(2000)
    assert len(overlay) == 0
