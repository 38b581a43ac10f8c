"""`aisle catalog schema`, on the real engine."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from search_proxy.models import SearchRequest
from tests.search_proxy.feeds.feed_files import feed_of, lines_of
from tests.search_proxy.test_catalog_commands import Shop, shop

__all__ = ["shop"]

pytestmark = pytest.mark.anyio


def _feed(folder: Path) -> str:
    products = [
        {"id": "1", "title": "Ein Zelt für zwei und der Sack", "price": 10, "color": "red", "cloth": "Nylon"},
        {
            "id": "2",
            "title": "Die Jacke für den Regen und das Rad",
            "price": 9,
            "color": "blue",
            "cloth": "Loden",
        },
    ] + [{"id": f"n{at}", "title": "Das Paar mit den Socken und die Tasche", "price": 5} for at in range(5)]
    return str(feed_of(folder, lines_of(*products)))


async def test_what_is_printed_can_be_edited_and_given_back(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given back as it is, it changes nothing and writes nothing."""
    assert await shop.run("load", "haus", _feed(tmp_path), "--no-derive") == 0
    assert "\nlanguage de\n" in capsys.readouterr().out
    assert await shop.run("schema", "haus") == 0
    printed = capsys.readouterr().out
    schema = orjson.loads(printed)
    assert schema["language"] == "de"
    assert schema["fields"] == {"cloth": "attributes", "color": "attributes", "productTitle": "title"}
    assert schema["boosts"]["title"] == 1.0
    assert schema["facets"] == ["color", "cloth", "price"]
    assert schema["fusion"] == "weighted_rrf"
    file = tmp_path / "schema.json"
    file.write_text(printed)
    assert await shop.run("schema", "haus", str(file)) == 0
    assert "has its schema; searches use it from now on" in capsys.readouterr().out
    file.write_bytes(orjson.dumps(schema | {"fields": {"cloth": "none"}, "facets": ["price"]}))
    assert await shop.run("schema", "haus", str(file)) == 0
    assert "has its schema; 7 documents were indexed anew" in capsys.readouterr().out
    assert (await shop.backend.search("demo", SearchRequest(index="haus", q="loden"))).total_hits == 0
    assert await shop.run("schema", "haus") == 0
    after = orjson.loads(capsys.readouterr().out)
    assert after == schema | {"fields": schema["fields"] | {"cloth": "none"}, "facets": ["price"]}


async def test_a_schema_may_come_before_the_first_load(shop: Shop, tmp_path: Path) -> None:
    """The index is made for it; the load's products are indexed that way."""
    file = tmp_path / "schema.json"
    file.write_text('{"language": "fr", "fields": {"cloth": "title"}}')
    assert await shop.run("schema", "haus", str(file)) == 0
    assert await shop.run("load", "haus", _feed(tmp_path)) == 0
    assert (await shop.backend.describe("demo", "haus")).language == "fr"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "a schema must be an object with"),
        ('{"fields": {"clothes": "title"}}', "fields: no document has a field 'clothes'; there are"),
        ('{"facets": ["%s"]}' % ("a" * 1_100_000), "has more than 1048576 bytes"),
    ],
)
async def test_a_file_that_is_no_schema_is_refused_and_changes_nothing(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    """One line on stderr, exit code 1."""
    await shop.run("load", "haus", _feed(tmp_path))
    capsys.readouterr()
    file = tmp_path / "schema.json"
    file.write_text(content)
    assert await shop.run("schema", "haus", str(file)) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


async def test_an_index_that_is_not_there_has_no_schema(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading makes none."""
    assert await shop.run("schema", "nothing") == 1
    assert "index 'nothing' does not exist" in capsys.readouterr().err
