"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.search_proxy.accounts.secret_watch import no_key_in_any_log_line

__all__ = ["no_key_in_any_log_line"]

# A processor that is shared makes any example slow, and its data too; neither is a finding.
settings.register_profile("shared processor", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared processor")

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
