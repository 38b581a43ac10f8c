"""Counting words as a person would."""

from __future__ import annotations

import pytest

from worker.words import count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  ...  !", 0),
        ("mug", 1),
        ("red mug", 2),
        ("don't forget socks", 3),
        ("27,5 inch wheel", 3),
        ("3.5 mm jack cable", 4),
        ("four-person tent", 3),
        ("something warm for a beach wedding in October", 8),
        ("Zelt für zwei Personen", 4),
        ("暖かい", 2),
        ("冬のキャンプに暖かいもの", 6),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    """Words are those of Unicode text segmentation, two characters each where a script has no spaces."""
    assert count_words(text) == words
