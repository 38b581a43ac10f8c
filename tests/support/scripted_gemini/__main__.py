"""Runs the paced model alone: `python -m tests.support.scripted_gemini --port 9797`.

Point the worker at it with `AISLE_GEMINI_BASE_URL=http://127.0.0.1:9797` and any key.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys

from tests.support.scripted_gemini.paced import Pace, PacedModel
from tests.support.scripted_gemini.wire import ScriptedGemini


def main() -> None:
    """Serve until interrupted."""
    defaults = Pace()
    parser = argparse.ArgumentParser(prog="python -m tests.support.scripted_gemini")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pace", type=float, default=1.0, help="1 is the real pace, 0 is no pause at all")
    parser.add_argument("--plan-chunks", type=int, default=defaults.plan_chunks)
    parser.add_argument("--summary-chunks", type=int, default=defaults.summary_chunks)
    given = parser.parse_args()
    pace = Pace(
        first_byte_seconds=defaults.first_byte_seconds * given.pace,
        gap_seconds=defaults.gap_seconds * given.pace,
        plan_chunks=given.plan_chunks,
        summary_chunks=given.summary_chunks,
    )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(given.port, pace))


async def _serve(port: int, pace: Pace) -> None:
    async with ScriptedGemini(port=port) as server:
        server.choose = PacedModel(pace)
        sys.stdout.write(f"scripted gemini at {server.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
