"""The real model: close to what was published, the same for the same text, and alike for what means alike."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from search_proxy.embedding.minilm import MAX_TOKENS, TOKENS_PER_RUN, MiniLmEmbedder, runs_of_one_length
from search_proxy.errors import SearchUnavailable

_REFERENCE = Path(__file__).parent / "reference_vectors.npy"
"""Of TEXTS, by `reference_embedding` over the published float32 weights."""

TEXTS = (
    "tent",
    "2 person tent",
    "A light tent for two\nStands without pegs, sheds rain, packs small. Weighs 1.9 kg.",
    "gas stove",
    "Gas stove with wind guard\nBoils a litre in four minutes; folds to the size of a fist.",
    "enamel mug",
    "27 inch monitor",
    'Monitor 27" QHD\nIPS panel, 165 Hz, height adjustable, two HDMI and one USB-C input.',
    "USB-C charger 65W",
    "wireless mouse",
    "Ergonomic mouse, wireless\nVertical form, six buttons, works on glass; one AA battery lasts a year.",
    "laser printer toner black",
    "HDMI cable 2m",
    "sofa",
    "Three-seat sofa in linen\nRemovable covers, oak legs, deep seat. Delivered in two parts.",
    "desk lamp",
    "rain jacket women",
    "Wasserdichte Jacke für Damen",
    "veste imperméable femme",
    "zapatos de senderismo",
    "hiking boots",
    "SKU-4471-B",
    "🏕️ camping",
)


def test_vectors_are_those_of_the_published_model(minilm: MiniLmEmbedder) -> None:
    """At most what rounding to int8 costs. Source: retrieval.md, part 4 (median .994, worst .988)."""
    vectors = minilm.embed(TEXTS)
    reference = np.load(_REFERENCE).astype(np.float32)
    cosines = (vectors * reference).sum(axis=1) / np.linalg.norm(reference, axis=1)
    assert vectors.shape == (len(TEXTS), minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert cosines.min() >= 0.985
    assert np.median(cosines) >= 0.99


def test_a_text_has_one_vector_whatever_stands_beside_it(minilm: MiniLmEmbedder) -> None:
    """Alone, among others, in another order, and as a query: bit for bit."""
    together = minilm.embed(TEXTS)
    assert np.array_equal(together, minilm.embed(TEXTS[::-1])[::-1])
    assert np.array_equal(together, np.stack([minilm.embed_query(text) for text in TEXTS]))


def test_texts_that_share_a_run_keep_their_vectors(minilm: MiniLmEmbedder) -> None:
    """More texts of one length than a run takes, short and cut ones; bit for bit as alone."""
    short = [f"{colour} {thing}" for colour in ("red", "blue", "green") for thing in ("tent", "lamp", "shoe")]
    long = [f"{text} " * MAX_TOKENS for text in short]
    several = short * 10 + long
    assert np.array_equal(minilm.embed(several), np.stack([minilm.embed_query(text) for text in several]))


def test_a_run_has_texts_of_one_length_and_few_tokens() -> None:
    """The longest come first, so that threads end together; every text is in one run."""
    lengths = [3, 128, 3, 90, 128, 128] + [10] * 60
    runs = runs_of_one_length(lengths)
    assert sorted(at for run in runs for at in run) == list(range(len(lengths)))
    assert [{lengths[at] for at in run} for run in runs] == [{128}, {128}, {90}, {10}, {10}, {10}, {3}]
    assert all(sum(lengths[at] for at in run) <= TOKENS_PER_RUN for run in runs)
    assert runs_of_one_length([TOKENS_PER_RUN + 1] * 2) == [[0], [1]]


def test_what_means_the_same_is_nearer_than_what_sounds_the_same(minilm: MiniLmEmbedder) -> None:
    """Words in common are not needed."""
    sofa, couch, soda = minilm.embed(["sofa", "couch", "soda"])
    assert sofa @ couch > sofa @ soda + 0.2


def test_long_text_is_cut_and_no_text_is_a_text(minilm: MiniLmEmbedder) -> None:
    """Ten megabytes cost no more than a page."""
    long = "tent " * 2_000_000
    assert len(minilm.token_ids(long)) == MAX_TOKENS
    assert np.array_equal(minilm.embed_query(long), minilm.embed_query(long[:5_000]))
    assert np.linalg.norm(minilm.embed_query("")) == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(minilm.embed(["", " ", "\n", "\x00", "🏕️", "\ud83c\udfd5️" * 900])).all()
    assert minilm.embed([]).shape == (0, minilm.dimension)


def test_several_threads_may_ask_at_once(minilm: MiniLmEmbedder) -> None:
    """Searches embed while products are embedded. Source: `Embedder`."""
    expected = minilm.embed(TEXTS)
    barrier = threading.Barrier(3, timeout=5)

    def ask() -> bool:
        barrier.wait()
        return np.array_equal(minilm.embed(TEXTS), expected)

    with ThreadPoolExecutor(3) as threads:
        assert all(answer.result(30) for answer in [threads.submit(ask) for _ in range(3)])


def test_files_that_are_no_model_are_refused_by_name(tmp_path: Path) -> None:
    """With what the library said."""
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with ThreadPoolExecutor(1) as threads, pytest.raises(SearchUnavailable, match="cannot be loaded"):
        MiniLmEmbedder(tmp_path / "model.onnx", tmp_path / "tokenizer.json", threads)
