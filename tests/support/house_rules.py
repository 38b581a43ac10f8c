"""Checks what no linter knows: file sizes and names, class names, and how tasks are started.

Run as `python -m tests.support.house_rules`; prints every breach and exits with 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("worker", "search_proxy", "cache", "conversation")
MAX_LINES = 300

_BANNED_FILES = {"utils", "helpers", "common", "misc", "base", "manager", "core"}
_BANNED_CLASS_WORDS = re.compile(r"(Manager|Helper|Handler|Impl|Base)(?=[A-Z]|$)")
_LOOSE_TASKS = {"create_task", "gather", "ensure_future"}
_ENVIRON_READERS = {"worker/cli.py", "worker/settings.py"}


def breaches(path: Path, source: str) -> Iterator[str]:
    """Yield one sentence for each rule that the file breaks."""
    name = path.as_posix()
    if source.count("\n") > MAX_LINES:
        yield f"{name} has {source.count(chr(10))} lines; at most {MAX_LINES}"
    if path.stem in _BANNED_FILES:
        yield f"{name} is named for nothing; name it for the thing it defines"
    tree = ast.parse(source)
    if source.strip() and ast.get_docstring(tree) is None:
        yield f"{name} has no module docstring"
    for node in ast.walk(tree):
        yield from _node_breaches(name, node)


def _node_breaches(name: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef) and _BANNED_CLASS_WORDS.search(node.name):
        yield f"{name}:{node.lineno} class {node.name} has an empty word in its name"
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "asyncio" and node.attr in _LOOSE_TASKS:
            yield f"{name}:{node.lineno} asyncio.{node.attr}: tasks start in a TaskGroup"
        if node.value.id == "os" and node.attr in {"environ", "getenv"} and name not in _ENVIRON_READERS:
            yield f"{name}:{node.lineno} reads the environment; settings are passed down"


def check(root: Path = ROOT) -> list[str]:
    """Return every breach under the product's packages."""
    found: list[str] = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            found += breaches(path.relative_to(root), path.read_text())
    return found


def main() -> None:
    """Print the breaches and exit accordingly."""
    found = check()
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
