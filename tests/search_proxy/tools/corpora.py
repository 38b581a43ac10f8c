"""Small corpora that tools are asked about: a year of mail, and an index that two tenants share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search_proxy.accounts.directory import AccountDirectory
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.caller import Caller
from search_proxy.errors import SearchUnavailable
from search_proxy.filters import parse_filter
from search_proxy.proxy import SearchProxy
from search_proxy.tools.context import Paraphraser
from search_proxy.tools.toolbox import Toolbox
from search_proxy.web.tier import WebTier

ACCOUNT = "acme"

_MEANINGS = (
    ("forecast", "projection", "projections", "model", "outlook"),
    ("q3", "quarter", "quarterly", "third"),
    ("revenue", "sales", "income"),
    ("holiday", "vacation", "leave"),
    ("lunch", "dinner", "menu"),
    ("tent", "shelter", "camping"),
    ("stove", "cooker", "gas"),
)


class MeaningEmbedder:
    """An embedder without a model: words of one group point the same way, other words hardly anywhere."""

    def __init__(self) -> None:
        self.model = "meanings"
        self.dimension = len(_MEANINGS) + 1
        self.is_down = False

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row of length 1 per text.

        Raises:
            SearchUnavailable: While `is_down`.
        """
        if self.is_down:
            raise SearchUnavailable("the model is down")
        counts = np.zeros((len(texts), self.dimension), np.float32)
        counts[:, -1] = 0.3
        for row, text in enumerate(texts):
            words = text.lower().replace(",", " ").replace(".", " ").split()
            for column, group in enumerate(_MEANINGS):
                counts[row, column] = min(2, sum(word in group for word in words))
        counts /= np.linalg.norm(counts, axis=1, keepdims=True)
        return counts

    def embed_query(self, query: str) -> npt.NDArray[np.float32]:
        """Return the one row of a query.

        Raises:
            SearchUnavailable: While `is_down`.
        """
        row: npt.NDArray[np.float32] = self.embed([query])[0]
        return row


def mails() -> list[dict[str, Any]]:
    """Return 40 mails of a year, 23 of them Sarah's; the one about the Q3 forecast calls it otherwise."""
    made = []
    for number in range(40):
        author = "sarah" if number < 23 else "tom"
        made.append(
            {
                "_id": f"mail-{number:02}",
                "productTitle": f"Lunch menu, week {number}",
                "description": f"<p>Dear all, the <b>menu</b> of week {number} is attached. {author}</p>",
                "author": author,
                "tags": ["email", "weekly"] if number % 2 else ["email"],
                "createdTime": f"2026-{number % 12 + 1:02}-{number % 27 + 1:02}T09:00:00Z",
                "scope": "everyone",
            }
        )
    made[7] |= {
        "productTitle": "Quarterly revenue model, draft for review",
        "description": "Sales projections for the third quarter. Please comment on the outlook by Friday.",
        "createdTime": "2026-06-28T14:30:00Z",
        "scope": "finance",
    }
    made[11] |= {
        "productTitle": "Outlook for the quarter, slides",
        "description": "The projections again, as slides.",
        "createdTime": "2026-07-02T08:00:00Z",
    }
    made[30] |= {
        "productTitle": "Forecast for Q3 by Tom",
        "description": "My own forecast for the quarter.",
    }
    return made


@dataclass
class Tools:
    """A toolbox over an engine of its own, and a caller who may see everything."""

    toolbox: Toolbox
    engine: EmbeddedBackend
    embedder: MeaningEmbedder
    caller: Caller
    directory: AccountDirectory

    async def call(self, index: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer of a call that succeeds."""
        answer = await self.toolbox.call(self.caller, index, tool, arguments)
        assert answer.structured is not None, answer.text
        return answer.structured

    async def sentence(self, index: str, tool: str, **arguments: Any) -> str:
        """Return the sentence of a call that fails."""
        answer = await self.toolbox.call(self.caller, index, tool, arguments)
        assert answer.structured is None
        return answer.text


@asynccontextmanager
async def open_tools(
    folder: Path,
    *,
    index: str = "mail",
    documents: Sequence[dict[str, Any]] = (),
    with_vectors: bool = True,
    web: WebTier | None = None,
    paraphraser: Paraphraser | None = None,
) -> AsyncIterator[Tools]:
    """Yield tools over `documents` (mails unless given) of the account `acme`."""
    embedder = MeaningEmbedder()
    async with open_embedded(folder, embedder if with_vectors else None) as engine:
        await engine.add_documents(ACCOUNT, index, list(documents) or mails())
        if with_vectors:
            await engine.embed_missing(ACCOUNT, index)
        directory = AccountDirectory()
        toolbox = Toolbox(SearchProxy(engine), directory, web=web, paraphraser=paraphraser)
        caller = Caller(account_id=ACCOUNT, key_kind="secret")
        yield Tools(toolbox, engine, embedder, caller, directory)


def tenant(name: str) -> Caller:
    """Return a caller of the shared account whose key shows one tenant's documents alone."""
    return Caller(
        account_id=ACCOUNT,
        key_kind="publishable",
        key_id=f"pk_{name}",
        forced_filter=parse_filter(f"tenant:({name})"),
    )
