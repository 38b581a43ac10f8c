"""What `make fuzz` runs in full runs here in small, as its own process."""

from __future__ import annotations

import subprocess
import sys


def test_both_fuzzers_find_nothing() -> None:
    """A few thousand texts each; a broken promise is an exit status."""
    command = [sys.executable, "-m", "bench.fuzz", "2000", "4000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2,000" in done.stdout
    assert "4,000" in done.stdout
