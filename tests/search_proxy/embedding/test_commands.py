"""`aisle catalog embed`: what it does, prints and exits with, on the real engine."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.embedding import commands
from tests.search_proxy.engine.word_embedder import WordEmbedder

pytestmark = pytest.mark.anyio

_PRODUCTS = [{"_id": "dome", "productTitle": "Dome tent"}, {"_id": "tarp", "productTitle": "Storm shelter"}]


@dataclass(frozen=True)
class _Services:
    embeddings: EmbeddedBackend


async def _run(engine: EmbeddedBackend, *command: str) -> int:
    parser = argparse.ArgumentParser()
    commands.register(parser.add_subparsers())
    args = parser.parse_args(["embed", *command])
    status: int = await args.run(args, _Services(engine))
    return status


async def test_embedding_reports_how_many_texts_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And none when there is nothing left to do; progress goes to stderr."""
    async with open_embedded(tmp_path, WordEmbedder()) as engine:
        await engine.add_documents("demo", "shop", _PRODUCTS)
        assert await _run(engine, "shop", "--progress") == 0
        shown = capsys.readouterr()
        assert shown.out == "embedded 2 texts of index 'shop' of account 'demo'\n"
        assert "2/2" in shown.err
        assert await _run(engine, "shop") == 0
        assert capsys.readouterr().out == "embedded 0 texts of index 'shop' of account 'demo'\n"


async def test_another_model_needs_a_rebuild(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The refusal names the very command that then works. Source: the message of `check_model`."""
    async with open_embedded(tmp_path, WordEmbedder("old")) as engine:
        await engine.add_documents("demo", "shop", _PRODUCTS)
        await engine.embed_missing("demo", "shop")
    async with open_embedded(tmp_path, WordEmbedder("new")) as engine:
        assert await _run(engine, "shop") == 1
        assert "run `aisle catalog embed shop --rebuild`" in capsys.readouterr().err
        assert await _run(engine, "shop", "--rebuild") == 0
        assert capsys.readouterr().out.startswith("embedded 2 texts")


async def test_without_an_embedder_or_an_index_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On stderr, with status 1."""
    async with open_embedded(tmp_path) as engine:
        assert await _run(engine, "shop") == 1
        assert capsys.readouterr().err == "aisle: no embedder is set up; search is lexical alone\n"
    async with open_embedded(tmp_path, WordEmbedder()) as engine:
        assert await _run(engine, "nothing", "--account", "acme") == 1
        assert capsys.readouterr().err == "aisle: index 'nothing' does not exist\n"
