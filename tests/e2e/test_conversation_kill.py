"""A real server process, killed at random moments under load: what its shoppers saw is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.conversation_kills import kill_rounds

pytestmark = pytest.mark.anyio

ROUNDS = 20


async def test_a_killed_server_has_lost_no_turn_whose_end_was_seen(tmp_path: Path) -> None:
    """Nothing lost, nothing half-written, no gap in the numbers; `stream-end` means durable.

    Source: design 16. `python -m bench.soak_conversations` makes 200 rounds of it.
    """
    witness = await kill_rounds(tmp_path, ROUNDS, seed=2026)
    assert witness.kills == ROUNDS
    assert witness.turns() > ROUNDS
