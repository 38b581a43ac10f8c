"""Writes the Python modules of `search.proto`, after every change of it.

Run as `python -m search_proxy.grpc.generate`.

What it writes is checked in, so that nobody needs the compiler to install or to test.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

_FOLDER = Path(__file__).resolve().parent
_ROOT = _FOLDER.parents[1]
_PROTO = "search_proxy/grpc/search.proto"
_NOTE = '"""Written by `python -m search_proxy.grpc.generate` from `search.proto`; not edited by hand."""\n'


def main() -> int:
    """Write the modules and return the compiler's status."""
    well_known = str(files("grpc_tools") / "_proto")
    outputs = [f"--{kind}_out={_ROOT}" for kind in ("python", "pyi", "grpc_python")]
    status: int = protoc.main(["protoc", f"-I{_ROOT}", f"-I{well_known}", *outputs, str(_ROOT / _PROTO)])
    for name in ("search_pb2.py", "search_pb2_grpc.py"):
        path = _FOLDER / name
        path.write_text(_NOTE + path.read_text(encoding="utf-8"), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
