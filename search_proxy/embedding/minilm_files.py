"""Where the MiniLM model lies once it is set up, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

MODEL = "all-minilm-l6-v2-int8"
"""Stands in every index with its vectors; a change to how they are made needs another name."""

DIMENSION = 384

FORMAT = 2
"""Raised when the graph changes while its vectors stay comparable: the model is then built anew."""

_CARD = "model.json"


@dataclass(frozen=True, slots=True)
class MiniLmFiles:
    """The files of the model in the folder of all models."""

    models: Path

    @property
    def folder(self) -> Path:
        """Return the model's own folder."""
        return self.models / MODEL

    @property
    def graph(self) -> Path:
        """Return the ONNX file."""
        return self.folder / "model.onnx"

    @property
    def tokenizer(self) -> Path:
        """Return the tokenizer's file."""
        return self.folder / "tokenizer.json"

    def are_ready(self) -> bool:
        """Return whether a model of this format is there, complete."""
        return self._format() == FORMAT

    def are_of_another_format(self) -> bool:
        """Return whether a model that another version of this program made is there, complete."""
        return self._format() not in (None, FORMAT)

    def _format(self) -> object:
        try:
            card = orjson.loads((self.folder / _CARD).read_bytes())
        except (FileNotFoundError, NotADirectoryError, orjson.JSONDecodeError):
            return None
        return card.get("format") if isinstance(card, dict) else None


def write_card(folder: Path, facts: dict[str, Any]) -> None:
    """Write the file that makes a folder a complete model; it comes last."""
    card = {"model": MODEL, "dimension": DIMENSION, "format": FORMAT, **facts}
    (folder / _CARD).write_bytes(orjson.dumps(card, option=orjson.OPT_INDENT_2))
