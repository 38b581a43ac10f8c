"""Query expansion: paraphrases searched alone and fused by rank, off where a query is literal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from search_proxy.tools.calibration import DEFAULT_MIN_SCORE, default_min_score
from search_proxy.tools.expansion import is_literal
from search_proxy.tools.rank_fusion import fuse_ranks
from tests.search_proxy.tools.corpora import open_tools

pytestmark = pytest.mark.anyio


class Thesaurus:
    """Says what it was told to say."""

    def __init__(self, *paraphrases: str) -> None:
        self.said = paraphrases
        self.asked: list[str] = []

    async def paraphrases(self, query: str, limit: int) -> Sequence[str]:
        """Return the paraphrases of any query."""
        self.asked.append(query)
        return self.said[:limit]


@pytest.mark.parametrize(
    ("query", "literal"),
    [
        ("TN-2110", True),
        ('"quarterly revenue"', True),
        ("find sarah@example.com", True),
        ("invoice 20261", True),
        ("tent", True),
        ("where do we discuss the outlook", False),
        ("how do we handle refunds", False),
    ],
)
def test_what_names_something_exactly_is_literal(query: str, literal: bool) -> None:
    """Codes, quotes, addresses, long numbers and single words are."""
    assert is_literal(query) is literal


def test_ranks_are_fused_with_sixty() -> None:
    """1 / (60 + place), summed. Source: Cormack et al., 2009."""
    fused = fuse_ranks([["a", "b"], ["b", "c"]])
    assert fused == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61), ("c", 1 / 62)]


async def test_a_conceptual_question_finds_what_its_paraphrase_finds(tmp_path: Path) -> None:
    """The question alone is close to nothing; said otherwise it is."""
    thesaurus = Thesaurus("quarterly sales projections", "revenue outlook")
    async with open_tools(tmp_path, paraphraser=thesaurus) as tools:
        question = "where do we discuss how things will go"
        alone = await tools.call("mail", "semantic_search", query=question, min_score=0.6)
        expanded = await tools.call("mail", "semantic_search", query=question, min_score=0.6, expand=True)
        found = {hit["id"] for hit in expanded["hits"]}
        assert "mail-07" in found - {hit["id"] for hit in alone["hits"]}
        assert {hit["score_kind"] for hit in expanded["hits"]} == {"rrf"}
        assert "revenue outlook" in expanded["note"]


async def test_a_literal_query_is_not_expanded(tmp_path: Path) -> None:
    """Nobody is asked for paraphrases, and the answer says so."""
    thesaurus = Thesaurus("anything")
    async with open_tools(tmp_path, paraphraser=thesaurus) as tools:
        page = await tools.call("mail", "semantic_search", query="Q3 forecast", min_score=0.1, expand=True)
        assert thesaurus.asked == []
        assert "literal" in page["note"]
        assert {hit["score_kind"] for hit in page["hits"]} == {"cosine"}


async def test_without_a_model_the_catalog_s_own_words_stand_in(tmp_path: Path) -> None:
    """What the first hits by words have in common."""
    async with open_tools(tmp_path, paraphraser=Thesaurus()) as tools:
        page = await tools.call("mail", "semantic_search", query="the weekly menu please", expand=True)
        assert "lunch" in page["note"]


def test_the_cutoff_is_that_of_the_model_in_use() -> None:
    """Measured where it was measured, the usual one elsewhere. Source: bench.min_score."""
    assert default_min_score("all-minilm-l6-v2-int8") == 0.44
    assert default_min_score("another") == default_min_score(None) == DEFAULT_MIN_SCORE
