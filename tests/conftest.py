"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search_proxy.accounts.secret_watch import no_key_in_any_log_line

__all__ = ["no_key_in_any_log_line"]

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the only loop that the product runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real catalogs and judgments; tests that want it skip where it is absent."""
    if not _SHARED_DATA.is_dir():
        pytest.skip("the real catalogs are not beside this checkout")
    return _SHARED_DATA
