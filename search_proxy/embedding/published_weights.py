"""Reads the weights of a MiniLM model as they were published, in the safetensors format."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]

HEAD_SIZE = 32
"""Of this family: 384 numbers in 12 heads."""

EPSILON = 1e-12


def read_safetensors(path: Path) -> Weights:
    """Return every float32 tensor of the file, mapped or, where it lies askew, copied.

    Raises:
        ValueError: The file is not in the safetensors format.
    """
    with path.open("rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else 0
        if not 2 <= length <= path.stat().st_size - 8:
            raise ValueError(f"{path.name!r} is no safetensors file: its header would have {length} bytes")
        header = orjson.loads(file.read(length))
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            offset = 8 + length + entry["data_offsets"][0]
            mapped = np.memmap(path, "<f4", "r", offset, tuple(entry["shape"]))
            # numpy multiplies with matrices that are not aligned without its fast routines.
            weights[name] = np.require(mapped, requirements="A")
    return weights
