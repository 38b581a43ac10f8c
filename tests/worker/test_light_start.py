"""What a process does not need, it does not load."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_OPENED = """
import asyncio, json, sys
from worker import cli
from worker.app import create_app
from worker.bootstrap import open_services
from worker.settings import Settings

async def opened():
    settings = Settings.from_env({"AISLE_DATA_DIR": sys.argv[1], "GOOGLE_API_KEY": "k"})
    app = create_app(lambda: open_services(settings))
    async with app.router.lifespan_context(app):
        print(json.dumps(sorted(sys.modules)))

asyncio.run(opened())
"""


def test_a_server_starts_without_clients_for_pages_pictures_and_people(tmp_path: Path) -> None:
    """They come with the first page, picture or `aisle tail`: 16 MB of a process that has none."""
    told = subprocess.run(
        [sys.executable, "-c", _OPENED, str(tmp_path)], capture_output=True, check=True, timeout=60
    )
    loaded = set(json.loads(told.stdout))
    assert {"worker.llm.gemini_rest", "search_proxy.viewing.gates", "worker.images"} <= loaded
    assert not {"httpx", "aiohttp", "PIL", "rich", "fastmcp", "grpc", "boto3", "redis"} & loaded
