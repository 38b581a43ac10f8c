"""Scripts of a model that searches by tools, and a shop that lets it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.scripted_gemini import Script, ScriptedGemini
from tests.support.scripted_gemini.scenarios import chunk, finished, sse, stream, text_chunk
from tests.support.shop import Shop
from tests.worker.test_agentic_search import modelled_shop


def calls(*wanted: tuple[str, Mapping[str, Any]], text: str = "") -> Script:
    """Answer with these calls in one chunk, the first of them signed."""
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    for number, (name, args) in enumerate(wanted):
        part: dict[str, Any] = {"functionCall": {"name": name, "args": dict(args), "id": f"{name}-{number}"}}
        parts.append(part if number else part | {"thoughtSignature": "c2ln"})
    return stream(sse(chunk(*parts)), finished())


def says(text: str) -> Script:
    """Answer in words."""
    return stream(text_chunk(text), finished())


def results(gemini: ScriptedGemini, number: int = -1) -> list[dict[str, Any]]:
    """Return the function responses of a call's last message."""
    parts = gemini.calls[number].body["contents"][-1]["parts"]
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


def output(gemini: ScriptedGemini, number: int = -1) -> str:
    """Return what the tools of a call's last message gave, together."""
    return "\n".join(str(one["response"].get("output", "")) for one in results(gemini, number))


@asynccontextmanager
async def tool_shop(
    folder: Path, tools: Mapping[str, Any] | None = None, **overrides: Any
) -> AsyncIterator[tuple[Shop, ScriptedGemini]]:
    """A modelled shop whose account lets conversations search by tools."""
    config = overrides.pop("agentic_config", {})
    async with modelled_shop(folder, **overrides) as (shop, gemini):
        settings = {"agentic_config": {"tools": {"enabled": True, **(tools or {})}, **config}}
        await shop.services.office.administration.set_settings("demo", "demo", settings, actor="test")
        yield shop, gemini
