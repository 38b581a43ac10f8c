"""The `aisle` command: whoever interrupts it while it still loads sees no more than who does so later."""

from __future__ import annotations

import importlib
import sys

_INTERRUPTED = 130
"""128 and the number of SIGINT, as shells count."""


def main() -> None:
    """Load the command line and run it."""
    try:
        importlib.import_module("worker.cli").main()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
