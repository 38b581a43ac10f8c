"""The text of an index in tantivy: one folder, one writer, many readers.

Every document has a serial number, which never comes back: a replaced document gets a new one. So tantivy may
lag behind or run ahead of the manifest by one commit, and a reader still sees exactly its own generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import tantivy

from search_proxy.engine.columns import Array
from search_proxy.engine.languages import analyzer, stop_words
from search_proxy.engine.searchable_text import BOOSTS
from search_proxy.engine.vocabulary import Vocabulary, merged_frequencies

_WRITER_HEAP_BYTES = 96_000_000
_TOKENIZER = "product_text"
_SERIAL = "serial"
_MAX_TERMS = 300_000
"""Of a field, the commonest; rarer ones are numbers that nobody mistypes."""


class TextIndex:
    """The text of one index, opened at its newest commit."""

    def __init__(self, folder: Path, language: str) -> None:
        builder = tantivy.SchemaBuilder()
        for name in BOOSTS:
            builder.add_text_field(name, tokenizer_name=_TOKENIZER)
        builder.add_unsigned_field(_SERIAL, fast=True, indexed=True)
        self.schema = builder.build()
        self._index = tantivy.Index(self.schema, str(folder), reuse=True)
        self.analyzer = analyzer(language)
        self._stop_words = stop_words(language)
        self._index.register_tokenizer(_TOKENIZER, self.analyzer)
        self._searcher = self._index.searcher()

    def matches(self, query: tantivy.Query) -> tuple[Array, Array]:
        """Return the serials and scores of every match, best first."""
        if not self._searcher.num_docs:
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        found = self._searcher.search(query, self._searcher.num_docs, count=False).hits
        if not found:
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        serials = self._searcher.fast_field_values(_SERIAL, [address for _, address in found])
        return np.array(serials, np.uint64), np.array([score for score, _ in found], np.float32)

    def term(self, field: str, term: str) -> tantivy.Query:
        """Return the query of one term, as analysed, in one field."""
        return tantivy.Query.term_query(self.schema, field, term)

    def frequency(self, term: str) -> int:
        """Return in how many documents `term`, as analysed, occurs in the field that has it most."""
        return max(int(self._searcher.doc_freq(field, term)) for field in BOOSTS)

    def telling(self, words: Sequence[str]) -> list[str]:
        """Return the words without those that only join others; all of them where nothing would be left."""
        return [word for word in words if self._stop_words.analyze(word)] or list(words)

    def having_all(self, terms: Sequence[str]) -> int:
        """Return how many documents have every one of `terms`, each in any field."""
        anywhere = [
            tantivy.Query.boolean_query([(tantivy.Occur.Should, self.term(field, term)) for field in BOOSTS])
            for term in terms
        ]
        every = tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in anywhere])
        return len(self._searcher.search(every, max(1, self._searcher.num_docs), count=False).hits)

    def vocabulary(self) -> Vocabulary:
        """Return every term of every field."""
        terms = (self._searcher.terms_with_prefix(field, "", limit=_MAX_TERMS) for field in BOOSTS)
        return Vocabulary(merged_frequencies(terms))

    def only(self, query: tantivy.Query, serials: Sequence[int]) -> tantivy.Query:
        """Return `query` narrowed to the documents of `serials`."""
        chosen = tantivy.Query.term_set_query(self.schema, _SERIAL, list(serials))
        return tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, query),
                (tantivy.Occur.Must, tantivy.Query.const_score_query(chosen, 0.0)),
            ]
        )

    @contextmanager
    def writing(self) -> Iterator[TextWriter]:
        """Open the one writer; what is not committed is gone when the block ends."""
        writer = self._index.writer(_WRITER_HEAP_BYTES, 1)
        try:
            yield TextWriter(writer, self.schema)
        finally:
            # Not rollback(): it may take files away from a merge that still runs, and break the index.
            writer.wait_merging_threads()


class TextWriter:
    """Adds and removes texts by serial number."""

    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema) -> None:
        self._writer = writer
        self._schema = schema

    def forget_from(self, serial: int) -> None:
        """Remove what a writer left behind that died before its generation was published."""
        self._writer.delete_documents_by_query(
            tantivy.Query.range_query(self._schema, _SERIAL, tantivy.FieldType.Unsigned, lower_bound=serial)
        )

    def add(self, serial: int, texts: Mapping[str, str]) -> None:
        """Add one document's texts."""
        self._writer.add_document(tantivy.Document.from_dict({**texts, _SERIAL: serial}, self._schema))

    def remove(self, serials: Iterable[int]) -> None:
        """Remove documents."""
        for serial in serials:
            self._writer.delete_documents_by_term(_SERIAL, serial)

    def commit(self) -> None:
        """Make everything since the last commit durable and visible to readers that open from now on."""
        self._writer.commit()
