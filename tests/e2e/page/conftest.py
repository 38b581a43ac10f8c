"""The browser, once for all of these tests, and a scripted store for each."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.page.browser import Browser
from tests.e2e.page.scripted_store import ScriptedStore, scripted_store

_PACKAGES = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def node_packages() -> Path:
    """Return the folder of the locked Node packages, installed if they are not there."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    if any(not (_PACKAGES / "node_modules" / name).is_dir() for name in ("playwright-core", "typescript")):
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=_PACKAGES, check=True, timeout=120)
    return _PACKAGES


@pytest.fixture(scope="session")
def browser(node_packages: Path) -> Iterator[Browser]:
    """Return a running browser."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("chromium is not installed")
    running = Browser(chromium)
    yield running
    running.close()


@pytest.fixture
def store() -> Iterator[ScriptedStore]:
    """Return a store whose streams the test writes."""
    with scripted_store() as running:
        yield running
