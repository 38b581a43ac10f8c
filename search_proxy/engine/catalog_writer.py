"""Commits: documents in, documents out, one generation after the other.

The order makes a crash harmless at every point: a segment is written that no generation knows yet; then the
manifest is replaced, which is the commit; then files that no generation uses are removed. One writer per
index, across processes, by a lock of the kernel.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pyroaring import BitMap

from search_proxy.engine.columns_builder import ColumnsBuilder
from search_proxy.engine.compaction import compacted
from search_proxy.engine.documents import PreparedDocument, prepare_document, product_of
from search_proxy.engine.embedder import embedded_text
from search_proxy.engine.flat_documents import Flattening, in_parts
from search_proxy.engine.language_detection import detected_language
from search_proxy.engine.languages import DEFAULT_LANGUAGE, TextAnalysis
from search_proxy.engine.manifest import (
    Manifest,
    SegmentEntry,
    identity,
    new_manifest,
    publish_manifest,
    read_manifest,
    writer_lock,
)
from search_proxy.engine.schema import Declaration
from search_proxy.engine.segment import write_segment
from search_proxy.engine.snapshot import SEGMENTS, Snapshot, read_deleted
from search_proxy.engine.synonyms import write_synonyms
from search_proxy.engine.text_builder import TextBuilder
from search_proxy.engine.vectors import text_hash

_WRITTEN_ANEW_AT_ONCE = 50_000
"""Documents of a segment when an index is written anew: some 200 MB of memory."""


def add_documents(folder: Path, documents: Sequence[Mapping[str, Any]], language: str | None = None) -> int:
    """Add or replace documents by `_id` in one commit; of equal ids in one batch the last one stays.

    An index that this makes has `language`, or the one that the documents are written in.

    Raises:
        InvalidDocument: A document cannot be indexed; nothing was written.
    """
    prepared = {
        document.id: document
        for document in (prepare_document(document, at) for at, document in enumerate(documents))
    }
    with writer_lock(folder):
        if language is None and identity(folder) is None:
            language = detected_language(documents)
        snapshot = _current(folder, language)
        if prepared:
            _commit(folder, snapshot, list(prepared.values()), list(prepared))
        elif identity(folder) is None:
            publish_manifest(folder, snapshot.manifest)
    return len(prepared)


def delete_documents(folder: Path, ids: Iterable[str]) -> int:
    """Delete documents by id in one commit and return how many existed.

    Raises:
        FileNotFoundError: There is no index in `folder`.
    """
    with writer_lock(folder):
        snapshot = Snapshot(folder, read_manifest(folder))
        existing = list(snapshot.rows_of(ids))
        if existing:
            _commit(folder, snapshot, [], existing)
    return len(existing)


def set_synonyms(folder: Path, lines: Sequence[str]) -> None:
    """Replace the index's synonyms; searches use them from the next generation on, which this makes.

    Raises:
        FileNotFoundError: There is no index in `folder`.
        InvalidSearch: A line is not a rule.
    """
    with writer_lock(folder):
        manifest = read_manifest(folder)
        write_synonyms(folder, lines, TextAnalysis(manifest.language))
        publish_manifest(folder, manifest.following(manifest.segments))


def declare_schema(folder: Path, declaration: Declaration) -> int:
    """Replace what is declared of an index, made where it is none, and return how many documents that wrote.

    Another language, or another text field for a document's field, writes all documents anew; searches go on
    over the last generation meanwhile, and vectors stay. Everything else only makes a generation.

    Raises:
        InvalidSearch: No document has a field that is named; nothing was changed.
    """
    schema = declaration.schema
    with writer_lock(folder):
        snapshot = _current(folder, declaration.language)
        manifest = snapshot.manifest
        if snapshot.documents:
            schema.check_names(snapshot.field_names)
        language = declaration.language or manifest.language
        declared = replace(manifest, language=language, schema=schema)
        moved = [
            name
            for name in {name.partition(".")[0] for name in snapshot.field_names}
            if schema.searched_in(name) != manifest.schema.searched_in(name)
        ]
        if not snapshot.documents or (language == manifest.language and not moved):
            publish_manifest(folder, declared.following(manifest.segments if snapshot.documents else ()))
            return 0
        analysis = TextAnalysis(language)
        segments = [_write_added(folder, declared, analysis, some) for some in _stored(snapshot)]
        following = declared.following(tuple(segments))
        publish_manifest(folder, following)
        _sweep(folder, _files(manifest) | _files(following))
    return snapshot.documents


def delete_index(folder: Path) -> None:
    """Delete the index and its files.

    Raises:
        FileNotFoundError: There is no index in `folder`.
    """
    with writer_lock(folder):
        if identity(folder) is None:
            raise FileNotFoundError(f"there is no index in {str(folder)!r}")
        doomed = folder.parent / f".{folder.name}.{secrets.token_hex(4)}"
        folder.rename(doomed)
        shutil.rmtree(doomed)


def _current(folder: Path, language: str | None) -> Snapshot:
    if identity(folder) is None:
        folder.mkdir(parents=True, exist_ok=True)
        return Snapshot(folder, new_manifest(language or DEFAULT_LANGUAGE))
    return Snapshot(folder, read_manifest(folder))


def _commit(
    folder: Path, snapshot: Snapshot, added: Sequence[PreparedDocument], removed_ids: Sequence[str]
) -> None:
    manifest = snapshot.manifest
    dead_rows = list(snapshot.rows_of(removed_ids).values())
    segments = _with_deleted(folder, snapshot, dead_rows)
    if added:
        segments.append(_write_added(folder, manifest, snapshot.text.analysis, added))
    following = manifest.following(tuple(segments))
    publish_manifest(folder, following)
    merged = compacted(folder, following)
    if merged is not None:
        publish_manifest(folder, merged)
    _sweep(folder, {*_files(manifest), *_files(following), *(_files(merged) if merged else ())})


def _stored(snapshot: Snapshot) -> Iterator[list[PreparedDocument]]:
    """Yield all living documents, some at a time."""
    some: list[PreparedDocument] = []
    for row, body in snapshot.bodies():
        some.append(PreparedDocument(id=snapshot.ids[row], body=body))
        if len(some) == _WRITTEN_ANEW_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _with_deleted(folder: Path, snapshot: Snapshot, dead_rows: Sequence[int]) -> list[SegmentEntry]:
    rows = np.sort(np.asarray(dead_rows, np.int64))
    entries = []
    for number, entry in enumerate(snapshot.manifest.segments):
        base, end = snapshot.bases[number], snapshot.bases[number + 1]
        inside = rows[np.searchsorted(rows, base) : np.searchsorted(rows, end)]
        if len(inside):
            dead = read_deleted(folder, entry) | BitMap((inside - base).tolist())
            name = f"{entry.name}.deleted-{secrets.token_hex(4)}"
            (folder / SEGMENTS / name).write_bytes(dead.serialize())
            entry = SegmentEntry(name=entry.name, size=entry.size, deleted=name, dead=len(dead))
        entries.append(entry)
    return entries


def _write_added(
    folder: Path, manifest: Manifest, analysis: TextAnalysis, added: Sequence[PreparedDocument]
) -> SegmentEntry:
    flattening = Flattening()
    fields = ColumnsBuilder(flattening)
    text = TextBuilder(flattening, analysis, manifest.schema.searched_in)
    texts, products = np.empty(len(added), "<u8"), np.empty(len(added), "<u8")
    for first_row, part in in_parts(added):
        documents = [one.read() for one in part]
        rows = slice(first_row, first_row + len(part))
        texts[rows] = [text_hash(embedded_text(document)) for document in documents]
        products[rows] = [text_hash(product_of(document)) for document in documents]
        flat = flattening.flat(first_row, documents)
        text.add(flat)
        fields.add(flattening.addressable(first_row, documents, flat))
    name = f"{manifest.number:012d}-{secrets.token_hex(4)}"
    write_segment(
        folder / SEGMENTS / name,
        ids=[document.id for document in added],
        text_hashes=texts,
        product_hashes=products,
        bodies=[document.body for document in added],
        fields=fields.build(),
        text=text.build(len(added)),
    )
    return SegmentEntry(name=name, size=len(added))


def _files(manifest: Manifest) -> set[str]:
    names = {entry.name for entry in manifest.segments}
    return names | {entry.deleted for entry in manifest.segments if entry.deleted is not None}


def _sweep(folder: Path, kept: set[str]) -> None:
    """Remove what neither the newest nor the last generation uses; a reader has its own files open."""
    for path in (folder / SEGMENTS).iterdir():
        if path.name in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
