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


_INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "worker.bootstrap":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from worker.entry import main
main()
"""


def test_an_interrupt_while_it_loads_leaves_no_traceback() -> None:
    """Ctrl-C in the first second is as quiet as later; the status is that of an interrupt."""
    line = [sys.executable, "-c", _INTERRUPTED_WHILE_LOADING]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
