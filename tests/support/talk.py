"""A shopper who talks to a shop over real HTTP, and what came back of each turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.event_stream import Frame, frames

CONVERSE = "/api/v1/indexes/demo/agentic-search/converse"
CONVERSATIONS = "/api/v1/indexes/demo/conversations"


@dataclass(frozen=True, slots=True)
class Said:
    """One turn's stream, whole."""

    events: list[Frame]

    @property
    def names(self) -> list[str]:
        """The events' names, in order."""
        return [event.name for event in self.events]

    def messages(self, part: str) -> list[Any]:
        """Return what the messages hold under a name."""
        return [event.data[part] for event in self.events if event.name == "message" and part in event.data]

    @property
    def text(self) -> str:
        """Everything that was said."""
        return "".join(self.messages("text"))

    @property
    def receipt(self) -> dict[str, Any]:
        """The receipt of the last message."""
        receipts = self.messages("receipt")
        assert len(receipts) == 1
        found: dict[str, Any] = receipts[0]
        return found

    @property
    def categories(self) -> list[dict[str, Any]]:
        """The categories, in the order of arrival."""
        return [
            item
            for event in self.events
            if event.name == "category-hits"
            for item in event.data["categoryHits"]
        ]

    @property
    def hits(self) -> list[dict[str, Any]]:
        """The hits of all categories."""
        return [hit for item in self.categories for hit in item["hits"]]

    @property
    def ids(self) -> list[str]:
        """The hits' ids."""
        return [hit["_id"] for hit in self.hits]

    @property
    def prices(self) -> list[float]:
        """The hits' prices."""
        return [hit["price"] for hit in self.hits]


@dataclass(slots=True)
class Talk:
    """One conversation; `defaults` go with every turn."""

    client: httpx.AsyncClient
    defaults: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    conversation_id: str | None = None

    def body(self, query: str, **more: Any) -> dict[str, Any]:
        """Return the body of a turn."""
        known = {} if self.conversation_id is None else {"conversationId": self.conversation_id}
        return {"q": query, **self.defaults, **known, **more}

    async def say(self, query: str, **more: Any) -> Said:
        """Make one turn and return its stream."""
        async with self.client.stream(
            "POST", CONVERSE, json=self.body(query, **more), headers=dict(self.headers)
        ) as response:
            assert response.status_code == 200, await response.aread()
            said = Said([frame async for frame in frames(response)])
        self.conversation_id = said.events[0].data["conversationId"]
        return said

    async def stored(self) -> dict[str, Any]:
        """Return the conversation as it is kept."""
        answer = await self.client.get(f"{CONVERSATIONS}/{self.conversation_id}", headers=dict(self.headers))
        assert answer.status_code == 200, answer.text
        kept: dict[str, Any] = answer.json()
        return kept
