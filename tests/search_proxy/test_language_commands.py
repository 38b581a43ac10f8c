"""`aisle catalog synonyms` and `load --language`, on the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_proxy.models import SearchRequest
from tests.search_proxy.feeds.feed_files import feed_of, lines_of
from tests.search_proxy.test_catalog_commands import Shop, shop

__all__ = ["shop"]

pytestmark = pytest.mark.anyio


def _feed(folder: Path) -> str:
    products = [
        {"id": "1", "title": "Grüne Häuser für Vögel", "price": 10},
        {"id": "2", "title": "Sofa", "price": 9},
    ]
    return str(feed_of(folder, lines_of(*products)))


async def _ids(shop: Shop, query: str) -> list[str]:
    result = await shop.backend.search("demo", SearchRequest(index="haus", q=query))
    return [str(hit["_id"]) for hit in result.hits]


async def test_a_load_makes_the_index_in_its_language(shop: Shop, tmp_path: Path) -> None:
    """German words meet in their German stem."""
    assert await shop.run("load", "haus", _feed(tmp_path), "--language", "de") == 0
    assert (await shop.backend.describe("demo", "haus")).language == "de"
    assert await _ids(shop, "haus vogel") == ["1"]


async def test_another_language_needs_a_new_index(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said before anything is written; the same language is no change."""
    assert await shop.run("load", "haus", _feed(tmp_path)) == 0
    assert await shop.run("load", "haus", _feed(tmp_path), "--language", "en") == 0
    assert await shop.run("load", "haus", _feed(tmp_path), "--language", "de") == 1
    assert "index 'haus' is in 'en'; add --replace to load it anew in 'de'" in capsys.readouterr().err
    assert await shop.run("load", "haus", _feed(tmp_path), "--language", "de", "--replace") == 0
    assert (await shop.backend.describe("demo", "haus")).language == "de"


async def test_synonyms_come_from_a_file_and_go_with_an_empty_one(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They count from the next search on."""
    await shop.run("load", "haus", _feed(tmp_path))
    rules = tmp_path / "synonyms.txt"
    rules.write_text("# furniture\nsofa, couch\n\nfeathered friends => vögel\n", encoding="utf-8")
    assert await shop.run("synonyms", "haus", str(rules)) == 0
    assert "index 'haus' of account 'demo' has 2 synonym rules" in capsys.readouterr().out
    assert await _ids(shop, "couch") == ["2"]
    assert await _ids(shop, "feathered friends") == ["1"]
    rules.write_text("", encoding="utf-8")
    assert await shop.run("synonyms", "haus", str(rules)) == 0
    assert await _ids(shop, "couch") == []


@pytest.mark.parametrize(
    ("content", "index", "message"),
    [
        (b"sofa, couch\nsofa\n", "haus", "synonyms line 2 must be 'a, b' or 'a => b'"),
        (b"sofa, couch\n", "nothing", "index 'nothing' does not exist"),
        (b"\xff\xfe", "haus", "utf-8"),
        (None, "haus", "No such file"),
    ],
)
async def test_synonyms_that_cannot_be_set_say_why(
    shop: Shop,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    index: str,
    message: str,
) -> None:
    """Exit code 1, and nothing is changed."""
    await shop.run("load", "haus", _feed(tmp_path))
    rules = tmp_path / "synonyms.txt"
    if content is not None:
        rules.write_bytes(content)
    assert await shop.run("synonyms", index, str(rules)) == 1
    assert message in capsys.readouterr().err
