"""Runs every benchmark, one process each, so that none disturbs the next: `python -m bench`."""

from __future__ import annotations

import subprocess
import sys

BENCHES = (
    "engine",
    "stream",
    "edge",
    "cache",
    "cache_flight",
    "conversation",
    "model",
    "model_streams",
    "model_failures",
    "planner",
    "view_gate",
    "routing",
    "routing_model",
    "reranking",
    "relevance",
    "hybrid_relevance",
    "fusion",
    "embedding",
    "cached_streams",
    "tools",
    "tool_agent",
    "min_score",
    "page",
)


def main() -> None:
    """Run them all; exit with 1 when one fails."""
    failed = [name for name in BENCHES if subprocess.run([sys.executable, "-m", f"bench.{name}"]).returncode]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
