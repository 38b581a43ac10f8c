"""A segment that was written before a text field was added is read as one that has nothing in it."""

from __future__ import annotations

import numpy as np

from search_proxy.engine.flat_documents import Flattening
from search_proxy.engine.languages import TextAnalysis
from search_proxy.engine.text_builder import TextBuilder
from search_proxy.engine.text_columns import TEXT_FIELDS, TextColumns, merge_texts
from search_proxy.engine.text_index import TextIndex


def built(*titles: str) -> TextColumns:
    """Return the text of documents with these titles."""
    flattening = Flattening()
    builder = TextBuilder(flattening, TextAnalysis("en"))
    documents = [
        {"_id": str(row), "productTitle": title, "brand": "Lumo"} for row, title in enumerate(titles)
    ]
    builder.add(flattening.flat(0, documents))
    return builder.build(len(titles))


def older(columns: TextColumns) -> TextColumns:
    """Return the same text as it was written without the last field."""
    fewer = len(TEXT_FIELDS) - 1
    frequencies = columns.arrays["term_frequencies"].reshape(-1, len(TEXT_FIELDS))[:, :fewer]
    lengths = columns.arrays["text_lengths"].reshape(len(TEXT_FIELDS), -1)[:fewer]
    return TextColumns(
        {
            **columns.arrays,
            "term_frequencies": np.ascontiguousarray(frequencies).reshape(-1),
            "text_lengths": np.ascontiguousarray(lengths).reshape(-1),
        }
    )


def test_it_scores_and_merges_as_if_it_were_new() -> None:
    """Scores, lengths and document counts are equal, alone and merged with a newer one."""
    new, old = built("red tent", "blue tent for two"), older(built("red tent", "blue tent for two"))
    analysis = TextAnalysis("en")
    expected, found = TextIndex([(0, new)], 2, analysis), TextIndex([(0, old)], 2, analysis)
    for term in ("tent", "red", "lumo"):
        assert found.scored(term).rows.tolist() == expected.scored(term).rows.tolist()
        assert found.scored(term).scores.tolist() == expected.scored(term).scores.tolist()
        assert found.frequency(term) == expected.frequency(term)
    kept = np.ones(2, bool)
    merged = merge_texts([(old, kept), (new, kept)])
    whole = merge_texts([(new, kept), (new, kept)])
    assert all(np.array_equal(merged.arrays[name], whole.arrays[name]) for name in whole.arrays)
