"""`aisle catalog enrich`: estimated first, bounded, resumable, and nothing twice."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from search_proxy import catalog_commands
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.enrichment.writing import EnrichmentFailed
from search_proxy.models import SearchRequest

pytestmark = pytest.mark.anyio


@dataclass
class Writer:
    """A model that knows one synonym; `fail_on` are words of texts that it has no answer for."""

    name: str = "writer"
    fail_on: tuple[str, ...] = ()
    stop_after: int | None = None
    asked: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0

    async def write(self, instruction: str, text: str, schema: Mapping[str, Any]) -> str:
        """Return keywords for tents."""
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await asyncio.sleep(0)
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise RuntimeError("killed")
            self.asked.append(text)
            if any(word in text for word in self.fail_on):
                raise EnrichmentFailed("the model failed: blocked")
            return orjson.dumps(
                {"keywords": ["bivouac", "bivouac"], "description": "A <b>shelter</b>."}
            ).decode()
        finally:
            self._now -= 1


@dataclass
class Services:
    """What the command is given."""

    catalog: EmbeddedBackend
    documents: EmbeddedBackend | None
    enrichment_model: Writer | None
    enrichment_folder: Path


@asynccontextmanager
async def shop(folder: Path, model: Writer | None) -> AsyncIterator[Services]:
    """Yield a shop of thirty tents."""
    async with open_embedded(folder / "data") as engine:
        documents = [{"_id": f"t{n}", "productTitle": f"Tent {n}", "price": 10.0 + n} for n in range(30)]
        await engine.add_documents("demo", "tents", documents)
        yield Services(engine, engine, model, folder / "enrichment")


async def run(services: Services, *options: str, index: str = "tents") -> int:
    """Run the command and return its status."""
    parser = argparse.ArgumentParser()
    catalog_commands.register(parser.add_subparsers())
    args = parser.parse_args(["catalog", "enrich", index, *options])
    status: int = await args.run(args, services)
    return status


async def test_what_was_written_is_found_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A word that no document has finds them all; the answer is plain text."""
    model = Writer()
    async with shop(tmp_path, model) as services:
        assert await run(services, "--at-once", "4") == 0
        said = capsys.readouterr().out
        assert said.startswith("30 of 30 documents are new or changed: about ")
        assert "wrote 30, indexed 30, failed 0" in said
        assert 1 < model.most_at_once <= 4
        found = await services.catalog.search("demo", SearchRequest(index="tents", q="bivouac", limit=50))
        assert found.total_hits == 30
        (entry,) = await services.catalog.get_documents("demo", "tents", ["t3"])
        assert entry.document is not None
        assert entry.document["enrichedKeywords"] == ["bivouac"]
        assert entry.document["enrichedDescription"] == "A shelter."


async def test_an_estimate_asks_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cost is known before anything is spent or written."""
    model = Writer()
    async with shop(tmp_path, model) as services:
        assert await run(services, "--estimate") == 0
        assert "tokens to read" in capsys.readouterr().out
        assert model.asked == []
    assert not (tmp_path / "enrichment").exists()


async def test_an_index_that_is_not_there_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file of a name that was a slip."""
    async with shop(tmp_path, Writer()) as services:
        assert await run(services, index="nope") == 1
        assert "'nope'" in capsys.readouterr().err
    assert not (tmp_path / "enrichment").exists()


async def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half a last line is dropped; what is whole is never asked for again."""
    async with shop(tmp_path, Writer(stop_after=12)) as services:
        with pytest.raises(BaseExceptionGroup):
            await run(services)
        journal = tmp_path / "enrichment" / "demo" / "tents.jsonl"
        whole = journal.read_bytes().count(b"\n")
        assert 0 < whole <= 12
        with journal.open("ab") as file:
            file.write(b'{"_id": "t29", "textHa')
        services.enrichment_model = model = Writer()
        assert await run(services) == 0
        assert len(model.asked) == 30 - whole
        assert all(orjson.loads(line)["model"] == "writer" for line in journal.read_bytes().splitlines())
        capsys.readouterr()


async def test_unchanged_documents_are_skipped_and_changed_ones_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reload loses the fields, not what was written: it comes back from the journal without a call."""
    model = Writer()
    async with shop(tmp_path, model) as services:
        await run(services)
        await run(services)
        assert len(model.asked) == 30
        reloaded = {"_id": "t1", "productTitle": "Tent 1", "price": 11.0}
        changed = {"_id": "t2", "productTitle": "Winter tent 2", "price": 12.0}
        await services.catalog.add_documents("demo", "tents", [reloaded, changed])
        capsys.readouterr()
        assert await run(services) == 0
        assert "wrote 1, indexed 2, failed 0" in capsys.readouterr().out
        assert len(model.asked) == 31
        assert "Winter" in model.asked[-1]


async def test_a_document_without_an_answer_is_named_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is tried again by the next run."""
    async with shop(tmp_path, Writer(fail_on=("Tent 7\n",))) as services:
        assert await run(services) == 1
        said = capsys.readouterr().out
        assert "wrote 29, indexed 29, failed 1" in said
        assert "failed t7: the model failed: blocked" in said
        services.enrichment_model = again = Writer()
        assert await run(services) == 0
        assert len(again.asked) == 1


async def test_without_a_model_the_command_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the estimate, which needs none."""
    async with shop(tmp_path, None) as services:
        assert await run(services) == 1
        assert "no model is set up" in capsys.readouterr().err


async def test_without_a_model_the_catalog_s_own_terms_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No token is spent; a model writes it anew later, and the catalog never writes over a model."""
    async with shop(tmp_path, None) as services:
        kinds = [
            {"_id": f"s{n}", "productTitle": f"Gas stove {n}", "category": "Stoves", "power": "2 kW"}
            for n in range(30)
        ]
        await services.catalog.add_documents("demo", "tents", [*kinds, {"_id": "x", "power": "3 kW"}])
        assert await run(services, "--from-catalog") == 0
        said = capsys.readouterr().out
        assert said.startswith("61 of 61 documents are new or changed\n")
        assert "failed 0" in said
        (entry,) = await services.catalog.get_documents("demo", "tents", ["x"])
        assert entry.document is not None
        assert entry.document["enrichedKeywords"] == ["Stoves"]
        services.enrichment_model = model = Writer()
        assert await run(services) == 0
        assert len(model.asked) == 61
        assert await run(services, "--from-catalog") == 0
        (entry,) = await services.catalog.get_documents("demo", "tents", ["x"])
        assert entry.document is not None
        assert entry.document["enrichedKeywords"] == ["bivouac"]
