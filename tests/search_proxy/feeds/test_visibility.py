"""Who may see a product, as feeds say it: kept as it was meant, or refused, and never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.search_proxy.feeds.feed_files import feed_of, lines_of, read_all

_LAMP = {"id": "1", "title": "Lamp"}


@pytest.mark.parametrize(
    ("said", "groups"),
    [
        ({"visibleTo": ["gold", "silver"]}, ["gold", "silver"]),
        ({"visibleTo": []}, []),
        ({"visibleTo": ["*"]}, ["*"]),
        ({"visibleTo": "gold"}, ["gold"]),
        ({"visibleTo": "gold|silver"}, ["gold", "silver"]),
        ({"visible_to": ["gold"]}, ["gold"]),
        ({"Visible To": "gold; silver"}, ["gold", "silver"]),
        ({}, None),
    ],
)
def test_groups_are_kept(tmp_path: Path, said: dict[str, Any], groups: list[str] | None) -> None:
    """An empty list is a draft, and stays one."""
    products, refusals = read_all(feed_of(tmp_path, lines_of({**_LAMP, **said})))
    assert refusals == []
    assert products[0].get("visibleTo") == groups
    assert not {"visible_to", "Visible To"} & set(products[0])


@pytest.mark.parametrize(
    "said",
    [
        {"visibleTo": None},
        {"visibleTo": ""},
        {"visibleTo": " "},
        {"visibleTo": 5},
        {"visibleTo": ["gold", None]},
        {"visibleTo": ["gold", 5]},
        {"visibleTo": {"groups": ["gold"]}},
        {"visibleTo": {}},
        {"visibleTo.group": "gold"},
        {"_visibleTo": {}},
        {"visibleTo": ["gold"], "visible_to": ["silver"]},
        {"attributes": {"visibleTo": ["gold"]}},
    ],
)
def test_what_would_be_lost_or_misread_is_refused(tmp_path: Path, said: dict[str, Any]) -> None:
    """The product is not loaded as everybody's."""
    products, refusals = read_all(
        feed_of(tmp_path, lines_of({**_LAMP, **said}, {"id": "2", "title": "Tent"}))
    )
    assert [product["_id"] for product in products] == ["2"]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(1, "bad_visibility")]


def test_a_table_has_a_column_of_groups(tmp_path: Path) -> None:
    """A blank cell says nothing; another column may be named for it."""
    table = "id,title,for whom\n1,Lamp,gold|silver\n2,Tent,\n3,Stove,*\n"
    products, refusals = read_all(feed_of(tmp_path, table, "feed.csv"), mapping={"visibleTo": "for whom"})
    assert refusals == []
    assert [product.get("visibleTo") for product in products] == [["gold", "silver"], None, ["*"]]
    assert all("for_whom" not in product for product in products)
