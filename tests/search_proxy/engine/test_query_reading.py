"""However a shopper writes it, the product is found; what is found literally is never changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import EmbeddedBackend
from search_proxy.engine.catalog_writer import add_documents
from search_proxy.engine.forms import indexed_forms, measures
from search_proxy.engine.lexicon import Lexicon
from search_proxy.engine.searching import search_snapshot
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.engine.synonyms import parse_synonyms
from search_proxy.engine.vocabulary import Vocabulary, edit_distance
from search_proxy.errors import InvalidSearch
from search_proxy.models import SearchRequest

_CATALOG: dict[str, dict[str, Any]] = {
    "monitor": {"productTitle": 'Curved Monitor 27"', "screenSize": "27 inch"},
    "small-monitor": {"productTitle": "Office Monitor 24 inch", "stockCount": 27},
    "toner": {"productTitle": "Black toner TN-2110", "brand": "Brother"},
    "toner-spaced": {"productTitle": "Cyan toner TN 2320"},
    "drive": {"productTitle": "Solid state drive 512GB", "mpn": "MZ-V7E512BW"},
    "console": {"productTitle": "PlayStation console"},
    "headphones": {"productTitle": "Wireless headphones", "waterResistant": True},
    "cafe": {"productTitle": "Café crème maker"},
    "batteries": {"productTitle": "Rechargeable batteries AA"},
    "sofa": {"productTitle": "Corner sofa", "description": "Seats three"},
    "camping": {"productTitle": "Camping stove"},
    "hybrid": {"productTitle": "2 in 1 laptop"},
}


def _snapshot(
    folder: Path, catalog: dict[str, dict[str, Any]], language: str = "en", synonyms: Sequence[str] = ()
) -> Snapshot:
    index = folder / "acme" / "shop"
    add_documents(index, [{"_id": key, **product} for key, product in catalog.items()], language)
    if synonyms:
        (index / "synonyms.txt").write_text("\n".join(synonyms), encoding="utf-8")
    return open_snapshot(index)[1]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Return a small shop that is only read."""
    return _snapshot(tmp_path_factory.mktemp("shop"), _CATALOG)


def _found(snapshot: Snapshot, query: str) -> list[str]:
    return [str(hit["_id"]) for hit in search_snapshot(snapshot, SearchRequest(index="shop", q=query)).hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("27in monitor", "monitor"),
        ('27" monitor', "monitor"),
        ("27-inch monitor", "monitor"),
        ("27.0 inches monitor", "monitor"),
        ("24in monitor", "small-monitor"),
        ("512 gb", "drive"),
        ("512gb", "drive"),
        ("tn2110", "toner"),
        ("tn-2110", "toner"),
        ("TN 2110", "toner"),
        ("tn2320", "toner-spaced"),
        ("tn-2320", "toner-spaced"),
        ("mzv7e512bw", "drive"),
        ("MZ V7E512BW", "drive"),
        ("play station", "console"),
        ("campingstove", "camping"),
        ("cafe creme", "cafe"),
        ("CAFÉ", "cafe"),
        ("battery", "batteries"),
        ("headphone", "headphones"),
        ("water resistant", "headphones"),
        ("hedphones", "headphones"),
        ("wireles", "headphones"),
        ("sfoa", "sofa"),
        ("haedphones", "headphones"),
        ("rechargable battery", "batteries"),
        ("playsta", "console"),
        ("wireless headp", "headphones"),
        ("2 in 1", "hybrid"),
    ],
)
def test_a_product_is_found_however_it_is_written(snapshot: Snapshot, query: str, first: str) -> None:
    """Sizes, model numbers, joined words, accents, plurals, typos and unfinished words."""
    assert _found(snapshot, query)[:1] == [first]


@pytest.mark.parametrize("query", ["sofa bent", "cornet", "tn2111", "aa", "zzzzzz", "soda"])
def test_a_word_without_a_near_neighbour_is_left_alone(snapshot: Snapshot, query: str) -> None:
    """Short words and numbers are never repaired; nothing is found for what nothing resembles."""
    expected = {
        "sofa bent": {"sofa"},
        "cornet": {"sofa"},
        "tn2111": set(),
        "aa": {"batteries"},
        "zzzzzz": set(),
        "soda": set(),
    }
    assert set(_found(snapshot, query)) == expected[query]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"camping stove"', {"camping"}),
        ('"stove camping"', set()),
        ('monitor "27 inch"', {"monitor"}),
        ('"office monitor" "24 inch"', {"small-monitor"}),
        ('"office monitor" "27 inch"', set()),
        ('"corner sofa', {"sofa"}),
        ('corner"sofa', {"sofa"}),
        ('27" monitor', {"monitor", "small-monitor"}),
        ('"" sofa', {"sofa"}),
        ('"\\"sofa\\""', {"sofa"}),
    ],
)
def test_a_phrase_in_quotes_is_required_word_by_word(snapshot: Snapshot, query: str, found: set[str]) -> None:
    """In one text field; half a pair of quotes is a blank. Source: engine API, lexical text."""
    assert set(_found(snapshot, query)) == found


@pytest.mark.parametrize(
    ("query", "found"), [("stove for the sofa", {"camping", "sofa"}), ("in", {"hybrid"}), ("THE", set())]
)
def test_words_that_only_join_others_do_not_count(snapshot: Snapshot, query: str, found: set[str]) -> None:
    """Unless the query has no others."""
    assert set(_found(snapshot, query)) == found


def test_a_word_that_the_index_has_is_not_repaired(snapshot: Snapshot) -> None:
    """`corner` finds corners, though a commoner neighbour might exist."""
    request = SearchRequest(index="shop", q="corner", explain=True)
    (hit,) = search_snapshot(snapshot, request).hits
    assert hit["_explain"]["replaced"] == {}


def test_an_explanation_says_what_gave_the_score(snapshot: Snapshot) -> None:
    """Field by field, and the words that were put in place of unknown ones."""
    request = SearchRequest(index="shop", q="hedphones", explain=True)
    (hit,) = search_snapshot(snapshot, request).hits
    explained = hit["_explain"]
    assert explained["replaced"] == {"hedphon": "headphon"}
    assert explained["lanes"] == {"text": pytest.approx(hit["_score"])}
    assert set(explained["fields"]) == {"title"}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("couch", {"sofa"}),
        ("three seater", {"sofa"}),
        ("television", {"monitor", "small-monitor"}),
        ("sofa", {"sofa"}),
    ],
)
def test_synonyms_stand_for_each_other(tmp_path: Path, query: str, found: set[str]) -> None:
    """Both ways with commas, one way with an arrow, several words on either side."""
    rules = ["sofa, couch, three seater  # furniture", "", "# electronics", "television => monitor"]
    assert set(_found(_snapshot(tmp_path, _CATALOG, synonyms=rules), query)) == found


@pytest.mark.parametrize("line", ["sofa", "a, => b", "sofa, ,couch", "one two three four five six seven, b"])
def test_a_line_that_is_no_synonym_rule_is_refused_by_number(snapshot: Snapshot, line: str) -> None:
    """The message says which line."""
    with pytest.raises(InvalidSearch, match="synonyms line 2"):
        parse_synonyms(["a, b", line], snapshot.text.analysis)


@pytest.mark.parametrize(
    ("language", "title", "queries"),
    [
        ("de", "Grüne Häuser für Vögel", ["haus", "Hauser", "vogel", "grun"]),
        ("fr", "Chaussures de randonnée légères", ["chaussure", "randonnee", "légère"]),
        ("es", "Camisetas de algodón para niños", ["camiseta", "algodon", "niño"]),
        ("en", "Running shoes for women", ["shoe", "run", "runs"]),
    ],
)
def test_words_meet_in_their_stem_in_every_language(
    tmp_path: Path, language: str, title: str, queries: list[str]
) -> None:
    """Plurals and accents do not matter, in the index's declared language."""
    snapshot = _snapshot(tmp_path, {"one": {"productTitle": title}}, language)
    assert snapshot.manifest.language == language
    for query in queries:
        request = SearchRequest(index="shop", q=query, explain=True)
        (hit,) = search_snapshot(snapshot, request).hits
        assert hit["_explain"]["replaced"] == {}, query


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    """The message lists the languages."""
    with pytest.raises(InvalidSearch, match="language must be one of en, de, fr"):
        _snapshot(tmp_path, _CATALOG, "tlh")


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("27” screen, 2 in 1, 3 inchworms", ["27inch"]),
        ("1,5 l / 15.60 in / 0.5m", ["1d5l", "15d6inch", "0d5m"]),
        ("A27in and 1.2.3 kg", []),
        ("2 x 500 ml", ["500ml"]),
    ],
)
def test_a_size_has_one_form(text: str, forms: list[str]) -> None:
    """Number and unit, however they are joined."""
    assert [form for form, _, _ in measures(text)] == forms


def test_model_numbers_are_indexed_joined() -> None:
    """Letters and digits around dashes, dots and slashes; plain words and numbers are not."""
    assert indexed_forms(["TN-2110 e-mail 15.6 AC/DC-20 2009-12-10"]) == ["tn2110 acdc20"]


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("tent", "tent", 0),
        ("tent", "tnet", 1),
        ("tent", "tents", 1),
        ("tent", "bank", 3),
        ("abc", "abcdefg", 3),
    ],
)
def test_edit_distance_counts_a_swap_as_one(left: str, right: str, distance: int) -> None:
    """Beyond the limit it is the limit plus one."""
    assert edit_distance(left, right, 2) == distance


def test_the_nearest_terms_come_first_and_then_the_commonest() -> None:
    """One edit before two; the same first letter before another; then by frequency."""
    first = Lexicon.of({"backpack": 2, "backpacks": 50, "jackpack": 99, "rucksack": 1_000, "backpack1": 9})
    known = Vocabulary([first, Lexicon.of({"backpack": 3, "backpac": 1})])
    assert known.nearest("backpcak", 3) == [("backpack", 1), ("backpacks", 2), ("backpac", 2)]


@pytest.mark.anyio
async def test_a_title_comes_before_descriptions_that_few_products_have(backend: EmbeddedBackend) -> None:
    """A shop full of jackets, and six bags with room for one: who types jacket wants a jacket."""
    jackets = [
        {"_id": f"jacket-{at}", "productTitle": f"Linnet {at} fleece jacket", "description": "Warm and light"}
        for at in range(20)
    ]
    bags = [
        {"_id": f"bag-{at}", "productTitle": f"Moor {at} daypack", "description": "Room for a jacket"}
        for at in range(6)
    ]
    lamps = [{"_id": f"lamp-{at}", "productTitle": f"Una {at} lamp"} for at in range(40)]
    await backend.add_documents("acme", "shop", [*bags, *jackets, *lamps])
    found = await backend.search("acme", SearchRequest(index="shop", q="jacket", limit=26))
    assert [str(hit["_id"])[:3] for hit in found.hits] == ["jac"] * 20 + ["bag"] * 6
