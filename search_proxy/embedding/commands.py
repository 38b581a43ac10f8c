"""`aisle catalog embed INDEX`: gives every product its vector now, or anew with another model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Never, Protocol

from tqdm import tqdm

from search_proxy.embedding.background import EmbeddingEngine
from search_proxy.errors import SearchError


class EmbeddingServices(Protocol):
    """What the command needs of the process."""

    @property
    def embeddings(self) -> EmbeddingEngine:
        """The engine whose indexes are embedded."""
        ...


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `embed` to the commands of `aisle catalog`."""
    summary = "give every product the vector that search by meaning needs"
    embed = subparsers.add_parser("embed", help=summary, description=summary)
    embed.add_argument("index", metavar="INDEX", help="name of the index")
    embed.add_argument("--account", default="demo", help="account id (default demo)")
    embed.add_argument(
        "--rebuild", action="store_true", help="embed everything again, as another model needs"
    )
    embed.add_argument(
        "--progress", action="store_true", help="show progress even where stderr is no terminal"
    )
    embed.set_defaults(run=_embed)


async def _embed(args: argparse.Namespace, services: EmbeddingServices) -> int:
    hidden = not (args.progress or sys.stderr.isatty())
    try:
        with tqdm(desc="embedding", unit=" texts", disable=hidden, file=sys.stderr) as bar:
            number = await services.embeddings.embed_missing(
                args.account, args.index, _moving(bar), again=args.rebuild
            )
    except SearchError as error:
        sys.stderr.write(f"aisle: {error}\n")
        return 1
    noun = "text" if number == 1 else "texts"
    sys.stdout.write(f"embedded {number:,} {noun} of index {args.index!r} of account {args.account!r}\n")
    return 0


def _moving(bar: tqdm[Never]) -> Callable[[int, int], None]:
    def move(done: int, of: int) -> None:
        bar.total = of
        bar.update(done - bar.n)

    return move
