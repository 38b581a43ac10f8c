"""An index on disk: restarts, other processes, crashes, merges."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.engine.catalog_writer import add_documents, delete_documents
from search_proxy.engine.compaction import MAX_SEGMENTS, first_to_merge
from search_proxy.engine.manifest import SegmentEntry, read_manifest
from search_proxy.engine.snapshot import Snapshot, open_snapshot
from search_proxy.models import SearchRequest

pytestmark = pytest.mark.anyio


def _numbered(first: int, last: int, color: str = "red") -> list[dict[str, Any]]:
    return [
        {
            "_id": str(n),
            "productTitle": f"Lamp number{n}",
            "color": color,
            "size": n,
            "tags": [f"t{n % 3}", "all"],
        }
        for n in range(first, last)
    ]


def _contents(snapshot: Snapshot) -> dict[str, Any]:
    return {
        document["_id"]: document for row, _ in snapshot.bodies() for document in [snapshot.document(row)]
    }


async def test_a_restart_needs_no_indexing(tmp_path: Path) -> None:
    """What one process wrote, the next one searches."""
    async with open_embedded(tmp_path) as first:
        await first.add_documents("acme", "lamps", _numbered(0, 50), language="de")
        before = await first.describe("acme", "lamps")
    async with open_embedded(tmp_path) as second:
        assert await second.describe("acme", "lamps") == before
        result = await second.search("acme", SearchRequest(index="lamps", q="number7"))
        assert [hit["_id"] for hit in result.hits] == ["7"]


async def test_what_another_process_writes_is_seen_by_the_next_search(
    backend: EmbeddedBackend, tmp_path: Path
) -> None:
    """A reader looks at the manifest before every search."""
    await backend.add_documents("acme", "lamps", _numbered(0, 3))
    assert (await backend.describe("acme", "lamps")).documents == 3
    program = (
        "import json, sys; from pathlib import Path\n"
        "from search_proxy.engine.catalog_writer import add_documents\n"
        "add_documents(Path(sys.argv[1]), json.loads(sys.argv[2]))"
    )
    folder = tmp_path / "indexes" / "acme" / "lamps"
    arguments = [sys.executable, "-c", program, str(folder), json.dumps(_numbered(2, 10, "blue"))]
    async with asyncio.timeout(30):
        writer = await asyncio.create_subprocess_exec(*arguments)
        assert await writer.wait() == 0
    assert (await backend.describe("acme", "lamps")).documents == 10
    result = await backend.search(
        "acme", SearchRequest(index="lamps", q="number2", attributes_to_retrieve=("color",))
    )
    assert [hit["color"] for hit in result.hits] == ["blue"]


def test_writers_in_parallel_lose_nothing(tmp_path: Path) -> None:
    """One writer at a time, whoever they are."""
    folder = tmp_path / "acme" / "lamps"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda part: add_documents(folder, _numbered(part * 10, part * 10 + 10)), range(8)))
    _, snapshot = open_snapshot(folder)
    assert snapshot.documents == 80


def test_readers_see_whole_generations_while_a_writer_replaces_everything(tmp_path: Path) -> None:
    """All documents of a generation have the same colour, whenever it is opened and searched."""
    folder = tmp_path / "acme" / "lamps"
    add_documents(folder, _numbered(0, 20, "c0"))
    done = threading.Event()

    def read() -> int:
        rounds = 0
        while not done.is_set():
            _, snapshot = open_snapshot(folder)
            assert len({one["color"] for one in _contents(snapshot).values()}) == 1
            assert snapshot.documents == 20
            rounds += 1
        return rounds

    with ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read) for _ in range(2)]
        for number in range(1, 15):
            add_documents(folder, _numbered(0, 20, f"c{number}"))
        done.set()
        assert all(reader.result(timeout=30) > 0 for reader in readers)


def test_a_writer_killed_at_any_moment_leaves_a_whole_generation(tmp_path: Path) -> None:
    """SIGKILL in the middle of commits: the index opens, is of one commit, and takes the next write."""
    folder = tmp_path / "acme" / "lamps"
    add_documents(folder, _numbered(0, 5, "c0"))
    program = (
        "import sys; from pathlib import Path\n"
        "from search_proxy.engine.catalog_writer import add_documents\n"
        "for n in range(10_000):\n"
        "    lamps = [{'_id': str(i), 'color': f'c{n}', 'productTitle': 'lamp'} for i in range(5)]\n"
        "    add_documents(Path(sys.argv[1]), lamps)\n"
        "    print(n, flush=True)\n"
    )
    chance = random.Random(5)
    for _ in range(4):
        with subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(chance.randrange(1, 12)):
                writer.stdout.readline()
            os.kill(writer.pid, signal.SIGKILL)
        _, snapshot = open_snapshot(folder)
        assert snapshot.documents == 5
        assert len({one["color"] for one in _contents(snapshot).values()}) == 1
    add_documents(folder, _numbered(0, 6, "last"))
    _, snapshot = open_snapshot(folder)
    rows = snapshot.text.having_all(["lamp"], "title")
    assert rows[snapshot.live[rows]].tolist() == sorted(snapshot.row_by_id.values())


def test_many_small_commits_stay_few_segments_with_the_same_content(tmp_path: Path) -> None:
    """Merging keeps every living document, every field and every value."""
    folder = tmp_path / "acme" / "lamps"
    expected: dict[str, Any] = {}
    chance = random.Random(3)
    for number in range(40):
        batch = _numbered(number * 5, number * 5 + 5, f"c{number % 4}")
        add_documents(folder, batch)
        expected.update({one["_id"]: one for one in batch})
        gone = chance.sample(sorted(expected), 2)
        delete_documents(folder, gone)
        for identifier in gone:
            del expected[identifier]
    _, snapshot = open_snapshot(folder)
    assert len(snapshot.segments) <= MAX_SEGMENTS
    assert _contents(snapshot) == expected
    for color in ("c0", "c1", "c2", "c3"):
        postings = snapshot.postings("color")
        assert postings is not None
        found = {snapshot.ids[row] for row in postings.equal(color) if snapshot.live[row]}
        assert found == {identifier for identifier, one in expected.items() if one["color"] == color}
    assert {path.name for path in (folder / "segments").iterdir()} >= {
        entry.name for entry in read_manifest(folder).segments
    }
    assert len(list((folder / "segments").iterdir())) <= 4 * MAX_SEGMENTS


def test_everything_is_merged_where_half_of_the_rows_are_dead() -> None:
    """A catalog that was loaded twice does not stay twice as large."""
    half_dead = (SegmentEntry(name="a", size=2_000, dead=2_000), SegmentEntry(name="b", size=2_000))
    assert first_to_merge(half_dead) == 0
    assert first_to_merge((SegmentEntry(name="a", size=2_000, dead=900),)) is None


def test_an_index_whose_last_document_is_deleted_stays_an_empty_index(tmp_path: Path) -> None:
    """It has no documents, and it can be filled again."""
    folder = tmp_path / "acme" / "lamps"
    add_documents(folder, _numbered(0, 1_500))
    assert delete_documents(folder, [str(n) for n in range(1_500)]) == 1_500
    _, snapshot = open_snapshot(folder)
    assert (snapshot.documents, snapshot.size) == (0, 0)
    add_documents(folder, _numbered(0, 2))
    assert open_snapshot(folder)[1].documents == 2


async def test_an_empty_index_answers_every_question(backend: EmbeddedBackend) -> None:
    """Adding nothing makes the index."""
    assert await backend.add_documents("acme", "lamps", []) == 0
    for query in ("lamp", None):
        result = await backend.search("acme", SearchRequest(index="lamps", q=query))
        assert (result.hits, result.total_hits, result.universe_size) == ((), 0, 0)
    described = await backend.describe("acme", "lamps")
    assert (described.documents, described.products, described.fields) == (0, 0, ())


def test_rows_are_found_by_id_without_a_table(tmp_path: Path) -> None:
    """Of living documents alone, in whatever segment and step they are; half a character is nobody's id."""
    folder = tmp_path / "index"
    for start in (0, 4_500):
        add_documents(folder, [{"_id": f"é{at}"} for at in range(start, start + 4_500)])
    add_documents(folder, [{"_id": "é7", "again": True}])
    assert delete_documents(folder, ["é5", "é5", "é4000", "unknown", "\ud800"]) == 2
    _, snapshot = open_snapshot(folder)
    wanted = ["é5", "é7", "é1999", "é2000", "é4000", "é8999", "unknown", "\ud800"]
    found = {one: snapshot.row_by_id[one] for one in wanted if one in snapshot.row_by_id}
    assert snapshot.rows_of(wanted) == found
    assert found == {"é7": 9_000, "é1999": 1_999, "é2000": 2_000, "é8999": 8_999}
