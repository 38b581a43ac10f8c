"""Plays a conversation without a model against a real index, as the flow does: decide, search, remember."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.filters import InFilter
from search_proxy.models import Document, Hit, SearchRequest
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_decision import ThreadDecision
from worker.planning.thread_products import shown_product
from worker.planning.thread_rules import decide_turn, vocabulary_of
from worker.planning.thread_state import ThreadState

ACCOUNT = "shop"
INDEX = "products"
PAGE = 6


@dataclass(slots=True)
class Player:
    """A conversation in progress; `hits` are those of the last turn that showed any."""

    backend: EmbeddedBackend
    vocabulary: Vocabulary
    state: ThreadState
    hits: list[Hit]

    async def say(self, utterance: str) -> ThreadDecision:
        """Make one turn; the thread goes through its JSON, as it does in storage."""
        state = ThreadState.from_json(json.loads(json.dumps(self.state.to_json())))
        decision = decide_turn(utterance, state, self.vocabulary)
        if decision.kind == "search" and decision.search is not None:
            search = decision.search
            result = await self.backend.search(
                ACCOUNT,
                SearchRequest(
                    index=INDEX,
                    q=search.query,
                    limit=PAGE,
                    offset=search.offset,
                    filter=search.filter,
                    sort_by=search.sort,
                    attributes_to_retrieve=self.fields(),
                ),
            )
            self.hits = list(result.hits)
            if not result.hits:
                self.state = decision.state.after_nothing(state)
                return decision
        elif decision.kind == "show":
            found = await self.backend.search(
                ACCOUNT,
                SearchRequest(
                    index=INDEX,
                    filter=InFilter("_id", decision.product_ids),
                    collapse=False,
                    attributes_to_retrieve=self.fields(),
                ),
            )
            self.hits = list(found.hits)
        self.state = decision.state
        if decision.kind == "search":
            shown = [shown_product(hit, self.vocabulary.roles) for hit in self.hits]
            self.state = decision.state.after_showing(shown)
        return decision

    def fields(self) -> tuple[str, ...]:
        """Return every field, so that a test can check any."""
        return tuple(field.name for field in self.vocabulary.description.fields) + ("_id",)

    def prices(self) -> list[float]:
        """Return the prices of the last hits."""
        return [float(hit["price"]) for hit in self.hits]

    def ids(self) -> list[str]:
        """Return the ids of the last hits."""
        return [str(hit["_id"]) for hit in self.hits]


def index(folder: Path, documents: Sequence[Document]) -> Path:
    """Index the documents in the folder and return it."""

    async def add() -> None:
        async with open_embedded(folder) as backend:
            await backend.add_documents(ACCOUNT, INDEX, documents)

    asyncio.run(add())
    return folder


@asynccontextmanager
async def play(folder: Path) -> AsyncIterator[Player]:
    """Open a conversation about the folder's products."""
    async with open_embedded(folder) as backend:
        description = await backend.describe(ACCOUNT, INDEX)
        yield Player(backend=backend, vocabulary=vocabulary_of(description), state=ThreadState(), hits=[])


def sample_documents(root: Path) -> list[dict[str, Any]]:
    """Return the sample store's products."""
    with gzip.open(root / "search_proxy" / "sample_store" / "products.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def retail_documents(shared_data: Path) -> list[dict[str, Any]]:
    """Return the retail catalog as a feed would give it: no colour, brand or material field at all."""
    with gzip.open(shared_data / "retail_demo" / "products.jsonl.gz", "rt") as lines:
        records = [json.loads(line) for line in lines]
    return [
        {
            "_id": record["id"],
            "productTitle": record["name"],
            "currency": "USD",
            **{name: record[name] for name in ("category", "style", "description", "price", "current_stock")},
        }
        for record in records
    ]
