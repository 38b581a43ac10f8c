"""The language of a catalog, told by its words."""

from __future__ import annotations

import pytest

from search_proxy.engine.language_detection import detected_language

_TEXTS = {
    "en": "A light tent for two people and three seasons, with a floor that keeps the water out of it",
    "de": "Ein leichtes Zelt für zwei Personen, das auch bei Wind und Regen steht und nicht viel wiegt",
    "fr": "Une tente pour deux personnes avec un tapis de sol et des piquets dans le sac",
    "es": "Una tienda para dos personas con el suelo y los postes en la bolsa que es muy ligera",
    "it": "Una tenda per due persone con il telo e i pali nella borsa che non pesa molto",
    "nl": "Een lichte tent voor twee personen die ook bij wind en regen blijft staan en niet veel weegt",
    "pt": "Uma tenda para duas pessoas com o chão e as varas na bolsa que não pesa muito",
    "sv": "Ett lätt tält för två personer som också står när det blåser och som inte väger mycket",
}


@pytest.mark.parametrize(("language", "text"), _TEXTS.items())
def test_a_catalog_has_the_language_that_its_words_join_in(language: str, text: str) -> None:
    """Titles without a joining word say nothing against it."""
    products = [{"productTitle": "Ridge 2 XL", "description": text} for _ in range(5)]
    assert detected_language(products) == language


@pytest.mark.parametrize(
    "products",
    [
        [],
        [{"productTitle": "Nike Air Max 90"}] * 50,
        [{"productTitle": "Zelt für zwei"}],
        [{"description": _TEXTS["de"]}] * 2 + [{"description": _TEXTS["en"]}] * 8,
        [{"productTitle": 7, "description": ["und", "der"]}] * 50,
    ],
)
def test_what_does_not_clearly_say_another_is_english(products: list[dict[str, object]]) -> None:
    """Names and a few sentences are no language."""
    assert detected_language(products) == "en"
