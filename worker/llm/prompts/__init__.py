"""The prompts, each in a file that a merchant can read, and the fence around text that is data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_FENCE_BREAKERS = str.maketrans({"<": "‹", ">": "›"})


@cache
def read_prompt(name: str) -> str:
    """Return the prompt of that name, as it stands in `worker/llm/prompts/{name}.md`; read once."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def fenced(name: str, text: str) -> str:
    """Return catalog text between tags that nothing inside it can close."""
    return f"<{name}>\n{text.translate(_FENCE_BREAKERS)}\n</{name}>"
