"""`aisle catalog enrich` as a process of its own, killed in the middle and started again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.scripted_gemini import Head, Script, ScriptedGemini, Stall
from tests.support.scripted_gemini.scenarios import json_text
from tests.support.scripted_gemini.wire import Call

pytestmark = pytest.mark.anyio

DOCUMENTS = 40
ANSWERED = 17


def environment(folder: Path, server: ScriptedGemini) -> Mapping[str, str]:
    """Return the settings of the command."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AISLE_", "GOOGLE_", "GEMINI_"))
    }
    return clean | {
        "AISLE_DATA_DIR": str(folder / "data"),
        "AISLE_GEMINI_BASE_URL": server.base_url,
        "AISLE_EMBEDDER": "none",
        "GOOGLE_API_KEY": "test-key",
    }


async def started(settings: Mapping[str, str], *words: str) -> Process:
    """Start `aisle catalog WORDS`."""
    command = (sys.executable, "-m", "worker.cli", "catalog", *words)
    return await asyncio.create_subprocess_exec(*command, env=dict(settings), stdout=PIPE, stderr=PIPE)


async def output(process: Process) -> str:
    """Wait for the end of a command that succeeds, and return what it said."""
    said, complained = await process.communicate()
    assert process.returncode == 0, complained.decode()
    return said.decode()


def asked_for(call: Call) -> str:
    """Return the title of the document that a call is about."""
    text: str = call.body["contents"][0]["parts"][0]["text"]
    return text.partition("\n")[0]


async def test_a_killed_run_loses_nothing_that_was_written(tmp_path: Path) -> None:
    """SIGKILL in mid-run: the second run asks for the rest alone, and all of it is in the index."""
    feed = tmp_path / "tents.jsonl"
    feed.write_text("".join(f'{{"_id": "t{n}", "productTitle": "Tent {n}"}}\n' for n in range(DOCUMENTS)))
    answer = json_text({"keywords": ["bivouac"], "description": "A shelter."}, pieces=1)
    async with asyncio.timeout(90), ScriptedGemini() as server:
        settings = environment(tmp_path, server)
        await output(await started(settings, "load", "tents", str(feed)))

        def until_stalled(call: Call) -> Script:
            return answer if len(server.calls) <= ANSWERED else [Head(), Stall()]

        server.choose = until_stalled
        first = await started(settings, "enrich", "tents", "--at-once", "4")
        await server.called(ANSWERED + 4)
        first.kill()
        await first.communicate()
        journal = tmp_path / "data" / "enrichment" / "demo" / "tents.jsonl"
        written = {json.loads(line)["_id"] for line in journal.read_bytes().splitlines()}
        assert len(written) == ANSWERED

        server.choose = lambda call: answer
        before = len(server.calls)
        said = await output(await started(settings, "enrich", "tents"))
        again = {asked_for(call) for call in server.calls[before:]}
    assert said.startswith(f"{DOCUMENTS - ANSWERED} of {DOCUMENTS} documents are new or changed")
    assert f"wrote {DOCUMENTS - ANSWERED}, indexed {DOCUMENTS}, failed 0" in said
    assert again == {f"productTitle: Tent {n}" for n in range(DOCUMENTS) if f"t{n}" not in written}
