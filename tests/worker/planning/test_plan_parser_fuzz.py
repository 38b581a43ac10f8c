"""The fuzzer's promises, on a few thousand streams; `make fuzz` runs a million."""

from __future__ import annotations

import pytest

from bench.fuzz_plan_parser import fuzz


@pytest.mark.parametrize("seed", range(4))
def test_no_exception_no_hang_and_no_whole_expansion_lost(seed: int) -> None:
    """Whatever the bytes. Source: docs/model.md."""
    result = fuzz(1500, seed=seed)
    assert (result.exceptions, result.lost, result.hangs, result.failures) == (0, 0, 0, [])
    assert len(result.kinds) == 5
