"""Loads the sample store, once, for `aisle demo`."""

from __future__ import annotations

import sys

from tqdm import tqdm

from search_proxy.errors import IndexNotFound
from search_proxy.sample_store import load_sample
from worker.services import Services

DEMO_ACCOUNT = "demo"
DEMO_INDEX = "demo"
_BATCH = 500


async def load_sample_store(services: Services) -> None:
    """Load the shipped products into the demo index unless they are there already."""
    documents = load_sample()
    try:
        description = await services.backend.describe(DEMO_ACCOUNT, DEMO_INDEX)
        if description.documents == len(documents):
            return
    except IndexNotFound:
        pass
    with tqdm(total=len(documents), unit=" products", desc="sample store", file=sys.stderr) as progress:
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            await services.catalog.add_documents(DEMO_ACCOUNT, DEMO_INDEX, batch)
            progress.update(len(batch))
