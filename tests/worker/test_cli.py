"""What the command line says before any command has begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", [["catalog", "list"], ["demo", "--port", "0"]])
def test_a_data_folder_that_cannot_be_used_is_one_sentence(tmp_path: Path, command: list[str]) -> None:
    """A file stands where the folder should be."""
    place = tmp_path / "data"
    place.write_text("a file")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AISLE_", "GOOGLE_"))}
    line = [sys.executable, "-m", "worker.cli", "--data-dir", str(place), *command]
    ended = subprocess.run(line, env=clean, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    (said,) = ended.stderr.splitlines()
    assert said.startswith(f"aisle: the accounts file '{place}/accounts.sqlite3' cannot be opened: ")
