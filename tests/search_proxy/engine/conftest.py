"""An engine over a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """Return an engine that has nothing yet."""
    async with open_embedded(tmp_path) as opened:
        yield opened
