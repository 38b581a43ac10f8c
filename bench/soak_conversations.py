"""Kills a real server under load, 200 times, and checks after each restart that nothing was lost.

`python -m bench.soak_conversations [ROUNDS] [SEED]`; the test suite makes a few rounds of the same. A line of
progress goes to the error stream after every tenth kill: 200 rounds take ten minutes.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from bench.table import Row, print_table
from tests.support.conversation_kills import Witness, kill_rounds

ROUNDS = 200


def main() -> None:
    """Make the rounds and print what was checked; a lost turn ends it with the assertion that says which."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 31)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        witness = asyncio.run(kill_rounds(Path(folder), rounds, seed, _tell))
    took = time.perf_counter() - began
    rows = [
        Row("kills survived", str(witness.kills), "", ""),
        Row("conversations", str(len(witness.asked)), "", ""),
        Row("turns acknowledged, all of them kept", str(witness.turns()), "", ""),
        Row("time", f"{took:.0f}", "", "s"),
    ]
    print_table(f"conversations under kill -9, seed {seed}", rows)


def _tell(witness: Witness) -> None:
    if witness.kills % 10 == 0:
        sys.stderr.write(f"{witness.kills} kills survived, {witness.turns()} turns acknowledged\n")


if __name__ == "__main__":
    main()
