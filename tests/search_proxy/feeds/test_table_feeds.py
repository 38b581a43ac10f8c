"""CSV and TSV: delimiters, quotes, types of columns, and that a bad row costs only itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_proxy.feeds import FeedError, open_feed
from tests.search_proxy.feeds.feed_files import feed_of, read_all


@pytest.mark.parametrize(("delimiter", "format_"), [(",", "csv"), (";", "csv"), ("|", "csv"), ("\t", "tsv")])
def test_the_delimiter_is_the_one_the_header_uses(tmp_path: Path, delimiter: str, format_: str) -> None:
    """Without a word about the format."""
    rows = ["id,title,price,color", "1,Trail Tent,249.50,red", "2,Camp Stove,39,"]
    path = feed_of(tmp_path, "\n".join(rows).replace(",", delimiter))
    assert open_feed(path).format == format_
    products, refusals = read_all(path)
    assert refusals == []
    assert products == [
        {"_id": "1", "parentProductId": "1", "productTitle": "Trail Tent", "price": 249.5, "color": "red"},
        {"_id": "2", "parentProductId": "2", "productTitle": "Camp Stove", "price": 39.0},
    ]


def test_a_column_is_a_number_or_boolean_only_as_a_whole(tmp_path: Path) -> None:
    """Codes keep their zeros, and one odd word makes the column text."""
    rows = [
        "id,title,weight,waterproof,batch,part number,size,grade",
        "007,Tent,1.9,true,00951,771,42,1",
        "8,Stove,2,FALSE,12345,772,M,2",
    ]
    products, _ = read_all(feed_of(tmp_path, "\n".join(rows)))
    wanted = ("_id", "weight", "waterproof", "batch", "part_number", "size", "grade")
    assert [tuple(product[name] for name in wanted) for product in products] == [
        ("007", 1.9, True, "00951", "771", "42", 1),
        ("8", 2, False, "12345", "772", "M", 2),
    ]


def test_a_cell_beyond_the_sample_that_does_not_fit_its_column_stays_text(tmp_path: Path) -> None:
    """The first 200 rows decide; nothing is lost later."""
    rows = ["id,title,size"] + [f"{n},Boot,{n}" for n in range(1, 250)] + ["250,Boot,large"]
    products, refusals = read_all(feed_of(tmp_path, "\n".join(rows)))
    assert refusals == []
    assert [products[-2]["size"], products[-1]["size"]] == [249, "large"]


def test_quotes_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    """A row is refused or read by the line where it starts."""
    content = 'id,title,description\n1,"Tent, 2p","He said ""dry""\nand\r\nlight"\nx,,\n2,5" pipe,a"b\n'
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [(p["productTitle"], p["description"]) for p in products] == [
        ("Tent, 2p", 'He said "dry"\nand\nlight'),
        ('5" pipe', 'a"b'),
    ]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(5, "missing_title")]


@pytest.mark.parametrize(
    ("row", "kind", "reason"),
    [
        (b'9,"never closed,1', "unclosed_quote", "never closed"),
        (b'9,"Tent"x,1', "bad_quotes", "after the quote"),
        (b"9,Tent,1,surplus", "wrong_columns", "expected 3 columns, found 4"),
        (b"9,caf\xe9,1", "not_utf8", "byte 0xe9"),
        (b"9,a\x00b,1", "nul_byte", "NUL"),
        (b",Tent,1", "missing_id", "needs an id"),
        (b"1,Again,1", "duplicate_id", "line 2"),
        (b"9,,1", "missing_title", "needs a title"),
        (b"9,Tent,free", "bad_price", "found 'free'"),
        (b"9,Tent,-1", "bad_price", "negative"),
        (b"9,Tent,nan", "bad_price", "finite"),
        (b"9," + b"x" * 1_048_577 + b",1", "too_long", "found 1048577"),
    ],
)
def test_a_bad_row_costs_only_itself(tmp_path: Path, row: bytes, kind: str, reason: str) -> None:
    """The rows before and after it are kept, even behind a quote that never closes."""
    content = b"id,title,price\n1,Trail Tent,249.5\n" + row + b"\n2,Camp Stove,39\n3,Lamp,5\n"
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["1", "2", "3"]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(3, kind)]
    assert reason in refusals[0].reason


def test_a_stray_quote_cannot_swallow_rows_up_to_the_next_quoted_cell(tmp_path: Path) -> None:
    """A row of several lines must come out with exactly the header's columns."""
    content = 'id,title,price\n1,"Tent,9\n2,Stove,5\n3,"Lamp, red",7\n4,Cup,3\n'
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["2", "3", "4"]
    assert [refusal.line for refusal in refusals] == [2]


def test_a_quoted_cell_that_ends_its_row_too_early_costs_only_its_first_line(tmp_path: Path) -> None:
    """A quote closed by another row's stray quote leaves cells out."""
    content = 'id,title,price\n1,"Tent\n2,Stove"\n3,Lamp,7\n'
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [(product["_id"], product["productTitle"]) for product in products] == [
        ("2", 'Stove"'),
        ("3", "Lamp"),
    ]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(2, "wrong_columns")]


def test_a_row_with_too_few_cells_lacks_the_last_ones(tmp_path: Path) -> None:
    """Spreadsheets leave empty cells at the end out."""
    products, refusals = read_all(feed_of(tmp_path, "id,title,price,color\n1,Tent\n"))
    assert refusals == []
    assert products == [{"_id": "1", "parentProductId": "1", "productTitle": "Tent"}]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    """As spreadsheets write it."""
    products, _ = read_all(feed_of(tmp_path, b"\xef\xbb\xbfid,title\n1,Tent\n"))
    assert products[0]["_id"] == "1"


def test_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """The second gets its number; an unnamed column as well."""
    feed = open_feed(feed_of(tmp_path, "id,title,color,color,\n1,Tent,red,blue,x\n"))
    assert len(list(feed)) == 1
    assert feed.columns == {
        "id": "_id",
        "title": "productTitle",
        "color": "color",
        "color_4": "color_4",
        "column_5": "column_5",
    }


def test_a_mapped_column_that_is_not_in_the_header_is_an_error_of_the_file(tmp_path: Path) -> None:
    """The message shows what there is."""
    path = feed_of(tmp_path, "id,title\n1,Tent\n")
    with pytest.raises(FeedError, match="no column 'cost'; this file has 'id', 'title'"):
        open_feed(path, mapping={"price": "cost"})
