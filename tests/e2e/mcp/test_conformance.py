"""The protocol's own conformance runner against the real server: the scenarios that apply to it.

The others ask for what a server of search tools does not have: prompts, resources, completion, sampling,
elicitation, sessions with streams of their own, and the runner's own test tools (docs/tools.md lists them).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from tests.support.shop import open_shop

pytestmark = pytest.mark.anyio

_FOLDER = Path(__file__).parent / "conformance"
SCENARIOS = ("server-initialize", "ping", "tools-list", "logging-set-level", "dns-rebinding-protection")


@pytest.fixture(scope="module")
def runner() -> Path:
    """Return the runner's programs, installed from the lock if they are not there."""
    programs = _FOLDER / "node_modules" / ".bin"
    if not (programs / "conformance").exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        command = ["npm", "ci", "--no-audit", "--no-fund"]
        installed = subprocess.run(command, cwd=_FOLDER, check=False, timeout=180)
        if installed.returncode:
            pytest.skip("the conformance runner cannot be installed here")
    return programs


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_server_conforms(tmp_path: Path, runner: Path, scenario: str) -> None:
    """Every check of the scenario passes."""
    path = f"{_FOLDER / 'node_modules' / 'node' / 'bin'}:{runner}:{os.environ['PATH']}"
    async with open_shop(tmp_path) as shop:
        url = f"{str(shop.client.base_url).rstrip('/')}/mcp/demo"
        with anyio.fail_after(50):
            ended = await anyio.run_process(
                ["conformance", "server", "--url", url, "--scenario", scenario],
                cwd=tmp_path,
                env={**os.environ, "PATH": path},
                check=False,
            )
    output = ended.stdout.decode()
    assert ended.returncode == 0, output[-2000:]
    assert ", 0 failed, 0 warnings" in output
