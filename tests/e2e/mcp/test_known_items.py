"""A scripted agent finds known items over MCP, with nothing but what the tools tell it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.engine_catalogs import icecat_products
from bench.known_items import known_items
from bench.tool_agent import MAX_CALLS, Agent
from bench.tool_faces import open_faces

pytestmark = pytest.mark.anyio

PRODUCTS, QUESTIONS, WANTED = 3_000, 20, 18


async def test_the_agent_finds_nine_in_ten_known_items(tmp_path: Path, shared_data: Path) -> None:
    """Facts that no title has lead to the one product that has them; ids come from results alone."""
    products = icecat_products()[:PRODUCTS]
    items = known_items(products, QUESTIONS)
    assert len(items) == QUESTIONS
    async with open_faces(tmp_path, products, with_vectors=False) as faces:
        agents = [Agent(faces.mcp, item) for item in items]
        right = [await agent.answer() == agent.item.answer for agent in agents]
    assert sum(right) >= WANTED
    assert all(agent.calls <= MAX_CALLS for agent in agents)
