"""Lets a scripted agent answer known-item questions over MCP: `make bench-tool-agent`.

The agent has the question's words, the official Python client, and nothing else: no field names but those in
answers, and no id but those that a tool has returned. It searches, narrows, reads, and answers with the one
product whose document says all that the question says. `--transcripts` prints the first three in full.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from mcp import Client

from bench.columns import print_columns
from bench.engine_catalogs import icecat_products
from bench.known_items import Fact, KnownItem, known_items, written
from bench.tool_faces import open_faces
from search_proxy.engine.searchable_text import name_words

QUESTIONS = 50
MAX_CALLS = 8
_READ_AT_ONCE = 20
_SHOWN_HITS = 3


@dataclass
class Agent:
    """One question's run: what was called, which ids were seen."""

    client: Client
    item: KnownItem
    seen: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    transcript: list[str] = field(default_factory=list)
    calls: int = 0

    async def answer(self) -> str | None:
        """Return the id of the product that has all facts, or None."""
        brand, facts = self.item.brand, self.item.facts
        said = [f"{fact.name} {fact.value}" for fact in facts]
        plans: list[tuple[str, dict[str, Any]]] = [
            ("keyword_search", {"query": " ".join(said), "filter": {"brand": [brand]}, "limit": 20}),
            ("search", {"queries": [*said, " ".join(said)], "filter": {"brand": [brand]}, "limit": 50}),
            *(("keyword_search", {"query": one, "filter": {"brand": [brand]}, "limit": 50}) for one in said),
        ]
        for tool, arguments in plans:
            found = await self._call(tool, arguments)
            if found is None:
                return None
            fresh = [hit["id"] for hit in found["hits"] if hit["id"] not in self.read]
            for start in range(0, min(len(fresh), 2 * _READ_AT_ONCE), _READ_AT_ONCE):
                documents = await self._call("read", {"document_ids": fresh[start : start + _READ_AT_ONCE]})
                if documents is None:
                    return None
                for document in documents["documents"]:
                    self.read.add(document["id"])
                    if all(_says(document["fields"], fact) for fact in facts):
                        self.transcript.append(f"answer: {document['id']}, {document['title']!r}")
                        return str(document["id"])
        return None

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if self.calls == MAX_CALLS:
            return None
        unseen = [one for one in arguments.get("document_ids", ()) if one not in self.seen]
        assert not unseen, f"ids that no tool has returned: {unseen}"
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        answer: dict[str, Any] = result.structured_content or {"hits": [], "documents": []}
        for hit in answer.get("hits", ()):
            self.seen.setdefault(hit["id"], hit["title"])
        self.transcript.append(_line(tool, arguments, answer))
        return answer


def main() -> None:
    """Print the table, or the transcripts."""
    asyncio.run(_run(transcripts="--transcripts" in sys.argv))


async def _run(*, transcripts: bool) -> None:
    products = icecat_products()
    if not products:
        sys.exit("the electronics catalog is not beside this checkout")
    items = known_items(products, QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        async with open_faces(Path(folder), products, with_vectors=False) as faces:
            agents = [Agent(faces.mcp, item) for item in items]
            right = [await agent.answer() == agent.item.answer for agent in agents]
    if transcripts:
        for agent in agents[:3]:
            sys.stdout.write("\n".join([f"user: {agent.item.question}", *agent.transcript]) + "\n\n")
        return
    calls = [agent.calls for agent in agents]
    headings = ("known-item questions over MCP", "found", "of", "calls, mean", "calls, most")
    row = (
        f"{len(products):,} products",
        str(sum(right)),
        str(len(right)),
        f"{mean(calls):.1f}",
        str(max(calls)),
    )
    print_columns(headings, [row])


def _says(fields: Mapping[str, Any], fact: Fact) -> bool:
    return any(
        name_words(name) == fact.name and written(value) == fact.value for name, value in fields.items()
    )


def _line(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    if tool == "read":
        ids = len(arguments["document_ids"])
        return f"agent → read({ids} ids of hits) → {len(answer['documents'])} documents"
    shown: Sequence[str] = [f"{hit['id']} {hit['title'][:60]!r}" for hit in answer["hits"][:_SHOWN_HITS]]
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    more = "…" if len(answer["hits"]) > _SHOWN_HITS else ""
    found = f"{len(answer['hits'])} hits of {answer.get('total', 0)}"
    return f"agent → {tool}({given}) → {found}: {'; '.join(shown)}{more}"


if __name__ == "__main__":
    main()
