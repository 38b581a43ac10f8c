"""A thousand equal questions at once, half at each of two server processes that share a Redis and a model."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench.table import Row, print_table
from tests.support.redis_server import redis_server
from tests.support.shared_question import SharedAnswer, ask_everywhere

_CALLERS = 1000
_SECONDS = 240


def main() -> None:
    """Ask, and print one table."""
    with redis_server() as server, tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        answer = asyncio.run(_asked(Path(folder), server.url))
        seconds = time.perf_counter() - began
    print_table(
        "cache_flight",
        [
            Row("callers, half at each of two processes", f"{_CALLERS}", "", ""),
            Row("model calls for a plan", f"{answer.model_calls}", "", ""),
            Row("whole answers", f"{answer.whole}", "", ""),
            Row("callers with a category before the plan was complete", f"{answer.heard_live}", "", ""),
            Row("answers that cost no model call", f"{answer.sources['cached']}", "", ""),
            Row("from starting the servers to the last answer", f"{seconds:.1f}", "", "s"),
        ],
    )


async def _asked(folder: Path, redis_url: str) -> SharedAnswer:
    async with asyncio.timeout(_SECONDS):
        return await ask_everywhere(folder, redis_url, callers=_CALLERS)


if __name__ == "__main__":
    main()
