"""Feeds both parsers of foreign text what nobody should send: `python -m bench.fuzz [PLANS [FILTERS]]`.

One process each; the exit status is 1 when either breaks a promise.
"""

from __future__ import annotations

import subprocess
import sys

_COUNTS = {"fuzz_plan_parser": "1000000", "fuzz_filters": "500000"}


def main() -> None:
    """Run both, with the counts that were given or the full ones."""
    given = dict(zip(_COUNTS, sys.argv[1:], strict=False))
    failed = []
    for name, count in (_COUNTS | given).items():
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        if subprocess.run([sys.executable, "-m", f"bench.{name}", count], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
