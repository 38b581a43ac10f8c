"""The vector lane: what it adds, how it is fused, and how an index gets its vectors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.engine.fusion import Fusion, FusionMethod, Lanes, fuse
from search_proxy.engine.vectors import VECTORS
from search_proxy.errors import IndexNotFound, SearchUnavailable
from search_proxy.filters import parse_filter
from search_proxy.models import FacetField, FacetsRequest, SearchRequest
from tests.search_proxy.engine.word_embedder import WordEmbedder

pytestmark = pytest.mark.anyio

_PRODUCTS: list[dict[str, Any]] = [
    {"_id": "dome", "productTitle": "Dome tent", "color": "red"},
    {"_id": "tarp", "productTitle": "Storm shelter", "color": "green"},
    {"_id": "stove", "productTitle": "Gas stove", "color": "red"},
    {"_id": "mug", "productTitle": "Enamel mug", "color": "blue"},
]


@pytest.fixture
def embedder() -> WordEmbedder:
    """Return an embedder that remembers what it was asked."""
    return WordEmbedder()


@pytest.fixture
async def hybrid(tmp_path: Path, embedder: WordEmbedder) -> AsyncIterator[EmbeddedBackend]:
    """Return an engine with vectors of every product."""
    async with open_embedded(tmp_path, embedder, Fusion(depth=2)) as opened:
        await opened.add_documents("acme", "shop", _PRODUCTS)
        await opened.embed_missing("acme", "shop")
        yield opened


def _request(q: str, filter_text: str | None = None, **more: Any) -> SearchRequest:
    wanted = None if filter_text is None else parse_filter(filter_text)
    return SearchRequest(index="shop", q=q, filter=wanted, **more)


async def test_what_means_the_same_is_found_without_a_common_word(hybrid: EmbeddedBackend) -> None:
    """Lexical matches and the nearest vectors together; the total is that of both. Source: design 3.6a."""
    result = await hybrid.search("acme", _request("tent"))
    assert [hit["_id"] for hit in result.hits] == ["dome", "tarp"]
    assert (result.total_hits, result.lanes) == (2, ("text", "vector"))
    described = await hybrid.describe("acme", "shop")
    assert (described.lanes, described.embedded_documents) == (("text", "vector"), 4)


async def test_filters_and_facets_hold_for_both_lanes(hybrid: EmbeddedBackend) -> None:
    """The nearest vectors are those that pass the filter; an excluded term widens both lanes."""
    facets = FacetsRequest(fields=(FacetField(name="color", exclude_terms=("color:green",)),))
    result = await hybrid.search("acme", _request("tent", "color:green", facets=facets))
    assert [hit["_id"] for hit in result.hits] == ["tarp"]
    assert result.total_hits == 1
    assert result.facets == {"color": {"green": {"count": 1}, "red": {"count": 1}}}


async def test_an_explanation_names_both_lanes(hybrid: EmbeddedBackend) -> None:
    """The similarity is the true one."""
    result = await hybrid.search("acme", _request("tent", explain=True))
    lanes = [hit["_explain"]["lanes"] for hit in result.hits]
    assert lanes[0]["text"] > 0
    assert lanes[0]["vector"] == pytest.approx(1.0)
    assert lanes[1] == {"text": 0.0, "vector": pytest.approx(1.0)}


async def test_an_index_without_vectors_is_searched_by_text_alone(
    tmp_path: Path, embedder: WordEmbedder
) -> None:
    """And says so; the model is not even asked."""
    async with open_embedded(tmp_path, embedder) as engine:
        await engine.add_documents("acme", "shop", _PRODUCTS)
        result = await engine.search("acme", _request("tent"))
        assert ([hit["_id"] for hit in result.hits], result.lanes) == (["dome"], ("text",))
        assert (await engine.describe("acme", "shop")).lanes == ("text",)
    assert embedder.asked == []


async def test_a_query_is_embedded_once(hybrid: EmbeddedBackend, embedder: WordEmbedder) -> None:
    """Equal queries share a vector, whatever their blanks."""
    embedder.asked.clear()
    for query in ("red tent", " red  tent", "red tent"):
        await hybrid.search("acme", _request(query))
    assert embedder.asked == ["red tent"]


async def test_a_model_that_fails_leaves_the_text_lane(
    hybrid: EmbeddedBackend, embedder: WordEmbedder
) -> None:
    """A search is answered, and says by what."""
    embedder.is_down = True
    result = await hybrid.search("acme", _request("tent"))
    assert ([hit["_id"] for hit in result.hits], result.lanes) == (["dome"], ("text",))


async def test_only_changed_texts_are_embedded_again(hybrid: EmbeddedBackend, embedder: WordEmbedder) -> None:
    """A new price is no new text; equal texts share a vector."""
    embedder.asked.clear()
    changed = [{**one, "price": 5} for one in _PRODUCTS] + [
        {"_id": "cup", "productTitle": "Cup"},
        {"_id": "cup-2", "productTitle": "Cup"},
    ]
    await hybrid.add_documents("acme", "shop", changed)
    assert await hybrid.embed_missing("acme", "shop") == 1
    assert embedder.asked == ["Cup"]
    assert (await hybrid.describe("acme", "shop")).embedded_documents == 6


async def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path, embedder: WordEmbedder) -> None:
    """What was appended counts at once, in searches and in the next run."""

    class Stopped(Exception):
        pass

    def stop_early(done: int, of: int) -> None:
        assert of == 1_000
        if done:
            raise Stopped

    async with open_embedded(tmp_path, embedder) as engine:
        await engine.add_documents(
            "acme", "shop", [{"_id": str(n), "productTitle": f"Tent {n}"} for n in range(1_000)]
        )
        with pytest.raises(Stopped):
            await engine.embed_missing("acme", "shop", stop_early)
        before = len(embedder.asked)
        assert 0 < before < 1_000
        assert (await engine.describe("acme", "shop")).embedded_documents == before
        assert await engine.embed_missing("acme", "shop") == 1_000 - before
    assert len(embedder.asked) == len(set(embedder.asked)) == 1_000


async def test_a_row_that_was_half_written_is_written_anew(hybrid: EmbeddedBackend, tmp_path: Path) -> None:
    """A writer that died between the row and its hash leaves nothing behind."""
    folder = tmp_path / "indexes" / "acme" / "shop" / VECTORS
    with (folder / "matrix.f32").open("ab") as file:
        file.write(b"half a row")
    await hybrid.add_documents("acme", "shop", [{"_id": "cooker", "productTitle": "Cooker"}])
    await hybrid.embed_missing("acme", "shop")
    result = await hybrid.search("acme", _request("cooker"))
    assert [hit["_id"] for hit in result.hits] == ["cooker", "stove"]


async def test_vectors_of_another_model_are_refused_with_the_way_out(
    hybrid: EmbeddedBackend, tmp_path: Path
) -> None:
    """Mixed vectors would be wrong in silence."""
    other = WordEmbedder("other-words")
    async with open_embedded(tmp_path, other) as engine:
        with pytest.raises(
            SearchUnavailable, match="has vectors of 'words'.*not of 'other-words'.*--rebuild"
        ):
            await engine.search("acme", _request("tent"))
        with pytest.raises(SearchUnavailable, match="--rebuild"):
            await engine.embed_missing("acme", "shop")
        assert await engine.embed_missing("acme", "shop", again=True) == 4
        assert (await engine.search("acme", _request("tent"))).lanes == ("text", "vector")


async def test_embedding_needs_an_embedder_and_an_index(
    backend: EmbeddedBackend, hybrid: EmbeddedBackend
) -> None:
    """The message says what search does without."""
    with pytest.raises(SearchUnavailable, match="search is lexical alone"):
        await backend.embed_missing("acme", "shop")
    with pytest.raises(IndexNotFound):
        await hybrid.embed_missing("acme", "nothing")


_LANES = Lanes(
    text_rows=np.array([1, 3, 5, 7]),
    text_scores=np.array([2.0, 8.0, 4.0, 1.0]),
    vector_rows=np.array([1, 2, 3, 5, 9]),
    similarities=np.array([0.9, 0.8, 0.1, 0.2, 0.3]),
)


@pytest.mark.parametrize(
    ("method", "best"),
    [("convex", [3, 1, 5, 2, 7]), ("weighted_rrf", [3, 5, 1, 2, 7]), ("rrf", [1, 3, 2, 5, 7])],
)
def test_every_fusion_orders_as_its_formula_says(method: FusionMethod, best: list[int]) -> None:
    """Two of each lane are candidates; what only the text lane has comes behind them."""
    rows, scores = fuse(_LANES, Fusion(method=method, depth=2))
    assert rows.tolist() == [1, 2, 3, 5, 7]
    assert rows[np.lexsort((rows, -scores))].tolist() == best


def test_exact_convex_scores_every_candidate_by_both_lanes() -> None:
    """Row 3 is no near vector, but its true similarity counts."""
    rows, scores = fuse(_LANES, Fusion(method="convex", depth=2))
    assert scores[rows.tolist().index(3)] == pytest.approx(0.6 * 1.0 + 0.4 * 0.1)
    assert scores[rows.tolist().index(2)] == pytest.approx(0.4 * 0.8)


def test_text_scores_that_say_nearly_the_same_leave_the_order_to_the_vectors() -> None:
    """They share a place, so the nearer comes first; what has no vector stays in the order of the text."""
    lanes = Lanes(
        text_rows=np.array([1, 2, 3, 4, 5]),
        text_scores=np.array([9.9, 9.95, 10.0, 7.0, 6.99]),
        vector_rows=np.array([1, 3, 4]),
        similarities=np.array([0.9, 0.8, 0.7]),
    )
    rows, scores = fuse(lanes, Fusion())
    assert rows[np.argsort(-scores)].tolist() == [1, 3, 4, 2, 5]
    assert scores.max() <= 1.0
    rows, scores = fuse(replace(lanes, vector_rows=rows[:0], similarities=np.empty(0)), Fusion())
    assert rows[np.argsort(-scores)].tolist() == [3, 2, 1, 4, 5]


def test_one_empty_lane_leaves_the_other() -> None:
    """No text match at all, or no vector that passes."""
    nothing = np.empty(0)
    rows, scores = fuse(
        Lanes(nothing.astype(int), nothing, _LANES.vector_rows, _LANES.similarities), Fusion(depth=2)
    )
    assert (rows.tolist(), scores.tolist()) == ([1, 2], pytest.approx([0.3, 0.3 * 61 / 62]))
    rows, scores = fuse(Lanes(_LANES.text_rows, _LANES.text_scores, nothing.astype(int), nothing), Fusion())
    assert rows[np.argsort(-scores)].tolist() == [3, 5, 1, 7]
