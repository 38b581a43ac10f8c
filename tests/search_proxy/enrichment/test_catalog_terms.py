"""What the catalog's own terms say of a document: its kind where that is clear, the kind's words, no more."""

from __future__ import annotations

from typing import Any

from search_proxy.enrichment.catalog_terms import NAME, CatalogTerms


def catalog() -> list[dict[str, Any]]:
    """Return two kinds of twelve documents, with fields and words of their own."""
    printers = [
        {
            "_id": f"p{n}",
            "productTitle": f"Laser printer {'duplex ' if n % 2 else ''}mono {n}",
            "category": "Printers",
            "brand": "Lumo",
            "dpi": "600",
        }
        for n in range(12)
    ]
    tents = [
        {
            "_id": f"t{n}",
            "productTitle": f"Dome tent camping {n}",
            "category": "Tents",
            "brand": "Fellhorn",
            "season": "winter",
        }
        for n in range(12)
    ]
    return [*printers, *tents]


def learned(documents: list[dict[str, Any]]) -> CatalogTerms:
    """Return the terms after all documents."""
    terms = CatalogTerms()
    for document in documents:
        terms.learn(document)
    return terms


def test_a_document_without_a_kind_gets_the_one_it_is_clearly_like() -> None:
    """By its words and its fields; its entry says that the catalog wrote it."""
    entry = learned(catalog()).enrich({"_id": "x", "productTitle": "Mono laser device", "dpi": "1200"}, "h")
    assert entry is not None
    assert (entry.id, entry.text_hash, entry.model) == ("x", "h", NAME)
    assert entry.keywords == ("Printers",)
    assert entry.description == "Printers: 1200"


def test_what_is_not_clear_is_left_alone() -> None:
    """A document that is like both kinds, and one that is like none."""
    terms = learned(catalog())
    assert terms.enrich({"_id": "x", "productTitle": "A thing"}, "h") is None
    assert terms.enrich({"_id": "y", "productTitle": "camping printer"}, "h") is None


def test_only_words_that_the_document_does_not_use_itself_are_added() -> None:
    """And none that every kind has, none that is rare in its own."""
    terms = learned(catalog())
    plain = terms.enrich({"_id": "x", "productTitle": "Shelter for two", "category": "Tents"}, "h")
    whole = terms.enrich({"_id": "y", "productTitle": "Dome tent camping", "category": "Tents"}, "h")
    assert plain is not None
    assert whole is not None
    assert sorted(plain.keywords) == []
    assert whole.keywords == ()


def test_typical_words_are_those_that_tell_the_kind_from_the_rest() -> None:
    """Among enough other documents, half of a kind is typical and all of it is more so."""
    others = [{"_id": f"o{n}", "productTitle": f"Item of sort {n}"} for n in range(100)]
    entry = learned([*catalog(), *others]).enrich(
        {"_id": "x", "productTitle": "Office machine", "category": "Printers", "finish": "matt black"}, "h"
    )
    assert entry is not None
    assert set(entry.keywords) == {"laser", "printer", "mono", "duplex"}
    assert entry.keywords[-1] == "duplex"
    assert entry.description == "Printers: matt black"


def test_an_empty_catalog_says_nothing() -> None:
    """No kind, no guess, no failure."""
    assert CatalogTerms().enrich({"_id": "x", "productTitle": "Tent"}, "h") is None
