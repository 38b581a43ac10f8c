"""`aisle catalog`: what each command does, prints and exits with, on the real engine."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from search_proxy import catalog_commands
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from tests.search_proxy.feeds.feed_files import feed_of, lines_of

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Shop:
    """The engine as the commands see it."""

    backend: EmbeddedBackend
    catalog: EmbeddedBackend

    async def run(self, *command: str) -> int:
        """Run one command and return its exit code."""
        args = _parse(*command)
        status: int = await args.run(args, self)
        return status


def _parse(*command: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="aisle")
    catalog_commands.register(parser.add_subparsers())
    return parser.parse_args(["catalog", *command])


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A shop without products."""
    async with open_embedded(tmp_path / "data") as engine:
        yield Shop(backend=engine, catalog=engine)


def _feed(folder: Path) -> str:
    good = [{"id": n, "name": f"Tent {n}", "price_eur": 10 + n, "category": "tents"} for n in range(4)]
    bad = [
        {"id": "x", "name": "no price", "price_eur": "free"},
        '{"id": "y\x1b[2J"',
        {"id": 0, "name": "again"},
    ]
    return str(feed_of(folder, lines_of(*good, *bad)))


async def test_load_reports_what_was_read_as_what_and_what_was_refused_and_why(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stdout; nothing on stderr where that is no terminal."""
    assert await shop.run("load", "tents", _feed(tmp_path)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines() == [
        "loaded 4 products into 'tents' (jsonl), refused 3",
        "language en",
        "columns:",
        "  id → _id",
        "  name → productTitle",
        "  price_eur → price",
        "  category → category",
        "refused:",
        "  1 bad price",
        "  1 not json",
        "  1 duplicate id",
        "  line 5, price_eur: price must be a number such as 49.95, found 'free'",
        "  line 6: the line is not JSON: unexpected control character in string (column 10)",
        "  line 7, _id: id '0' was already read on line 1",
    ]  # fmt: skip


async def test_refusals_beyond_the_shown_ones_are_in_their_file(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JSON object per line, with line, field, reason and kind."""
    refused = tmp_path / "refused.jsonl"
    assert await shop.run("load", "tents", _feed(tmp_path), "--show", "1", "--refused", str(refused)) == 0
    assert capsys.readouterr().out.endswith("found 'free'\n  and 2 more\n")
    written = [json.loads(line) for line in refused.read_text().splitlines()]
    assert [(one["line"], one["field"], one["kind"]) for one in written] == [
        (5, "price_eur", "bad_price"),
        (6, None, "not_json"),
        (7, "_id", "duplicate_id"),
    ]


async def test_progress_is_shown_on_stderr_when_asked_for(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report stays alone on stdout."""
    assert await shop.run("load", "tents", _feed(tmp_path), "--progress") == 0
    printed = capsys.readouterr()
    assert "100%" in printed.err
    assert "100%" not in printed.out


async def test_flags_say_which_column_is_which_and_where_ids_come_from(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mapped column wins, and a prefix keeps two feeds apart in one index."""
    feed = str(feed_of(tmp_path, "id;label;cost\n1;Tent;5,50\n2;Stove;7\n"))
    flags = ["--map", "productTitle=label", "-m", "price=cost", "--id-prefix", "eu-", "--limit", "1"]
    assert await shop.run("load", "tents", feed, *flags) == 0
    found = await shop.backend.get_documents("demo", "tents", ["eu-1", "eu-2"])
    assert [one.document for one in found] == [
        {"_id": "eu-1", "parentProductId": "eu-1", "productTitle": "Tent", "price": 5.5},
        None,
    ]
    assert "  cost → price\n" in capsys.readouterr().out


async def test_products_without_a_category_get_a_derived_one(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the merchant's own categories, never in their place; a flag leaves it out."""
    colours = ["red", "blue", "green", "white", "black"]
    rows = [{"id": colour, "title": f"Fleece jacket {colour}", "price": 5} for colour in colours]
    rows.append({"id": "own", "title": "Fleece jacket", "category": "Outerwear"})
    feed = str(feed_of(tmp_path, lines_of(*rows)))
    assert await shop.run("load", "jackets", feed) == 0
    assert "derived a category for 5 products that have none\n" in capsys.readouterr().out
    found = await shop.backend.get_documents("demo", "jackets", ["red", "own"])
    red, own = (one.document or {} for one in found)
    assert ("derivedCategory" in red, "category" in red) == (True, False)
    assert ("derivedCategory" in own, own["category"]) == (False, "Outerwear")
    assert await shop.run("load", "plain", feed, "--no-derive") == 0
    assert "derived" not in capsys.readouterr().out


async def test_the_report_cannot_steer_the_terminal(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names and values come from somebody else's file."""
    rows = [{"id": 1, "title": "T", "co\x1b[2Jlour": "red"}, {"id": 2, "title": "T", "price": "\x1b[2J"}]
    assert await shop.run("load", "tents", str(feed_of(tmp_path, lines_of(*rows))), "--no-derive") == 0
    assert await shop.run("show", "tents") == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "  co·[2Jlour → co_2jlour\n" in printed


async def test_a_column_that_no_line_had_is_named_in_the_report(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelled mapping of a JSON feed shows."""
    assert await shop.run("load", "tents", _feed(tmp_path), "--map", "price=prise") == 0
    assert "  prise was named and never seen\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "is empty"), ("[1]", "is one JSON array"), ("<x/>", "has no <item>")],
)
async def test_a_file_that_is_no_feed_is_one_line_on_stderr_and_exit_code_1(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    """Nothing is printed to stdout, nothing written."""
    assert await shop.run("load", "tents", str(feed_of(tmp_path, content))) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("aisle: feed ")
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert await shop.backend.list_indexes("demo") == []


async def test_a_feed_in_which_nothing_was_good_exits_with_1_and_says_why(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report is printed all the same."""
    assert await shop.run("load", "tents", str(feed_of(tmp_path, lines_of({"id": 1})))) == 1
    assert capsys.readouterr().out.splitlines() == [
        "loaded 0 products into 'tents' (jsonl), refused 1",
        "columns:",
        "  id → _id",
        "  no column was taken for the productTitle; say which one it is: --map productTitle=COLUMN",
        "refused:",
        "  1 missing title",
        "  line 1, productTitle: a product needs a title; no column gives one",
    ]


async def test_a_refused_file_that_cannot_be_written_ends_the_load_before_it_starts(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the file."""
    missing = tmp_path / "no" / "folder.jsonl"
    assert await shop.run("load", "tents", _feed(tmp_path), "--refused", str(missing)) == 1
    printed = capsys.readouterr()
    assert (printed.out, str(missing) in printed.err) == ("", True)
    assert await shop.backend.list_indexes("demo") == []


async def test_indexes_are_listed_shown_and_deleted(
    shop: Shop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each account has its own."""
    assert await shop.run("list") == 0
    assert capsys.readouterr().out == (
        "account 'demo' has no index; load one with: aisle catalog load INDEX FILE\n"
    )
    await shop.run("load", "tents", _feed(tmp_path))
    capsys.readouterr()
    assert await shop.run("list") == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split() == ["index", "products", "documents", "fields", "category", "field"]
    assert listed[1].split()[:3] == ["tents", "4", "4"]
    assert await shop.run("show", "tents") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("index 'tents': 4 products, 4 documents, ")
    assert "10 to 13" in shown
    assert "tents (4)" in shown
    assert await shop.run("show", "tents", "--account", "other") == 1
    assert capsys.readouterr().err == "aisle: index 'tents' does not exist\n"
    assert await shop.run("delete", "tents") == 0
    assert capsys.readouterr().out == "deleted index 'tents' of account 'demo'\n"
    assert await shop.run("delete", "tents") == 1
    assert capsys.readouterr().err == "aisle: index 'tents' does not exist\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["load", "1tents", "f"], "an index name has letters"),
        (["load", "../x", "f"], "an index name has letters"),
        (["load", "tents", "f", "--account", "a-b"], "an account id has letters"),
        (
            ["load", "tents", "f", "--map", "price"],
            "expected FIELD=COLUMN, such as price=price_eur, found 'price'",
        ),
        (["load", "tents", "f", "--limit", "0"], "expected a whole number above 0, found '0'"),
        (["load", "tents", "f", "--show", "-1"], "expected a whole number above 0, found '-1'"),
        (["load", "tents", "f", "--format", "xls"], "invalid choice: 'xls'"),
        (["load", "tents"], "the following arguments are required: FILE"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_opened(
    capsys: pytest.CaptureFixture[str], command: list[str], message: str
) -> None:
    """With the usual exit code of a usage error."""
    with pytest.raises(SystemExit) as exit_:
        _parse(*command)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


async def test_a_real_catalog_is_loaded_whole(
    shop: Shop, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command, into the engine."""
    assert await shop.run("load", "retail", str(shared_data / "retail_demo" / "products.jsonl.gz")) == 0
    assert capsys.readouterr().out.startswith("loaded 2,465 products into 'retail' (jsonl), refused 0\n")
    assert (await shop.backend.describe("demo", "retail")).documents == 2_465
