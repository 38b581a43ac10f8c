"""The house rules, applied."""

from __future__ import annotations

from pathlib import Path

from tests.support.house_rules import breaches, check


def test_the_product_keeps_the_house_rules() -> None:
    """No file over 300 lines, no empty names, no loose tasks. Source: CONTRIBUTING.md."""
    assert check() == []


def test_a_file_that_breaks_every_rule_is_told_so() -> None:
    """Each rule can fail."""
    source = "import asyncio, os\nclass FooManager: ...\nasyncio.create_task\nos.environ\n" + "\n" * 300
    said = " ".join(breaches(Path("worker/utils.py"), source))
    for part in (
        "lines",
        "named for nothing",
        "no module docstring",
        "FooManager",
        "TaskGroup",
        "environment",
    ):
        assert part in said
