"""Feeds the plan parser byte streams that no model should send: `python -m bench.fuzz_plan_parser [COUNT]`.

Each stream is a plan that was dressed, cut, salted with malformed expansions or bitten, or no plan at all,
and comes in pieces of random size through the event-stream decoder. What must hold: no exception, no
hang, and every expansion that was whole before the first damage is found; malformed siblings cost only
themselves.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import orjson

from worker.llm.gemini_chunks import ChunkReader
from worker.llm.language_model import ModelError
from worker.llm.sse_decoder import SseDecoder
from worker.planning.plan import QueryExpansion
from worker.planning.plan_reader import PlanReader

_WORDS = ("tent", "ünï", "帐篷", "\\", '"quoted"', "a]b", "[x", "{y}", "12 in", "\u2028", "🏕", "d,e", ": f")
_PREAMBLES = (
    "",
    "```json\n",
    "Sure! Here it is:\n",
    "{braces} and [1] ",
    "\ufeff",
    " \n\t",
    "[1] {} ",
    "// x\n",
)
_TRAILERS = ("", "\n```", " Hope it helps {", "}}", "]", '{"query_expansions":[["z","Z",1]]}')
_MALFORMED = (
    '["x" "X",0.5]',
    '["x","X",0.5,]',
    '["x",Label,0.5]',
    '["12" tent","X",0.5]',
    '["x","X",.5]',
    '["x","X",--1]',
    "[1,2",
    "{,}",
    '{"query" "x"}',
)
_TOKENS = (
    "{",
    "}",
    "[",
    "]",
    '"',
    ",",
    ":",
    "\\",
    "\\u",
    '"query_expansions"',
    '"summary"',
    "0.5",
    "NaN",
    "1e9999",
)
_MOST_SECONDS = 1.0
"""A stream of a few KB that takes more CPU than this counts as a hang."""


@dataclass(slots=True, kw_only=True)
class FuzzResult:
    """What a run of the fuzzer found; `failures` holds the first few streams that broke a promise."""

    streams: int = 0
    exceptions: int = 0
    lost: int = 0
    hangs: int = 0
    slowest_seconds: float = 0.0
    total_seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def fuzz(count: int, seed: int = 1) -> FuzzResult:
    """Feed `count` streams and return what broke."""
    chance = random.Random(seed)
    result = FuzzResult()
    for _ in range(count):
        kind = chance.choice(tuple(_KINDS))
        text, expected = _KINDS[kind](chance)
        result.streams += 1
        result.kinds[kind] += 1
        started = time.process_time()
        try:
            found = _read(text, chance)
        except Exception as error:  # noqa: BLE001
            result.exceptions += 1
            result.failures.insert(0, f"{kind}: {error!r}: {text!r}")
            continue
        finally:
            seconds = time.process_time() - started
            result.total_seconds += seconds
            result.slowest_seconds = max(result.slowest_seconds, seconds)
            result.hangs += seconds > _MOST_SECONDS
        missing = [query for query in expected if query not in found]
        if missing:
            result.lost += len(missing)
            result.failures.append(f"{kind}: lost {missing!r}: {text!r}")
        del result.failures[5:]
    return result


def _read(text: str, chance: random.Random) -> set[str]:
    """Send the text as a model would, cut anywhere, and return the queries that were found."""
    pieces = _cut(text, chance)
    stream = b"".join(b"data: " + _chunk(piece) + b"\r\n\r\n" for piece in pieces)
    decoder, chunks, plan = SseDecoder(), ChunkReader(), PlanReader()
    found: set[str] = set()
    at = 0
    while at < len(stream):
        size = chance.choice((1, 7, 64, 400, 4000, len(stream)))
        for payload in decoder.feed(stream[at : at + size]):
            for event in chunks.read(orjson.loads(payload)):
                found |= {part.query for part in plan.read(event) if isinstance(part, QueryExpansion)}
        at += size
    found |= {part.query for part in plan.close() if isinstance(part, QueryExpansion)}
    try:
        chunks.end()
    except ModelError:
        return found
    raise AssertionError("a stream without finish reason passed as whole")


def _chunk(text: str) -> bytes:
    return orjson.dumps({"candidates": [{"content": {"parts": [{"text": text}]}}]})


def _cut(text: str, chance: random.Random) -> list[str]:
    size = chance.choice((1, 3, 10, 50, len(text) or 1))
    if size == 1 and len(text) > 400:
        size = 3
    return [text[at : at + size] for at in range(0, len(text), size)]


def _rows(chance: random.Random) -> list[tuple[str, str]]:
    """Return up to six rows as `(query, JSON)`; queries and labels are distinct."""
    rows = []
    for number in range(chance.randrange(1, 7)):
        query = " ".join([str(number), *chance.choices(_WORDS, k=chance.randrange(4))])
        query = " ".join(query.split())
        confidence = round(chance.random(), 2)
        if chance.random() < 0.3:
            row: object = {"query": query, "label": f"L{number}", "confidence": confidence}
        else:
            row = [query, f"L{number}", confidence, *(["a:(b)"] if chance.random() < 0.3 else [])]
        rows.append((query, json.dumps(row, ensure_ascii=chance.random() < 0.5)))
    return rows


def _plan(rows: Sequence[str], chance: random.Random) -> str:
    rest = chance.choice(
        ("", ', "summary": "ok"', ', "query_complements": ["a b", "c d"], "strategy": "hybrid"')
    )
    return f'{{"query_expansions": [{", ".join(rows)}]{rest}}}'


def _dressed(chance: random.Random) -> tuple[str, list[str]]:
    rows = _rows(chance)
    plan = _plan([row for _, row in rows], chance)
    return chance.choice(_PREAMBLES) + plan + chance.choice(_TRAILERS), [query for query, _ in rows]


def _salted(chance: random.Random) -> tuple[str, list[str]]:
    rows = _rows(chance)
    mixed = [row for _, row in rows]
    mixed.insert(chance.randrange(len(mixed) + 1), chance.choice(_MALFORMED))
    return _plan(mixed, chance), [query for query, _ in rows]


def _whole_before(rows: Sequence[tuple[str, str]], text: str, damage: int) -> list[str]:
    whole, at = [], 0
    for query, row in rows:
        at = text.index(row, at) + len(row)
        if at <= damage:
            whole.append(query)
    return whole


def _truncated(chance: random.Random) -> tuple[str, list[str]]:
    rows = _rows(chance)
    text = _plan([row for _, row in rows], chance)
    cut = chance.randrange(len(text) + 1)
    return text[:cut], _whole_before(rows, text, cut)


def _bitten(chance: random.Random) -> tuple[str, list[str]]:
    rows = _rows(chance)
    text = _plan([row for _, row in rows], chance)
    bites = sorted(chance.randrange(len(text)) for _ in range(chance.randrange(1, 5)))
    damaged = text
    for at in reversed(bites):
        instead = chance.choice((*_TOKENS, "", "\x00", "\n", "\ufffd", "é"))
        damaged = damaged[:at] + instead + damaged[at + chance.randrange(3) :]
    return damaged, _whole_before(rows, text, bites[0])


def _noise(chance: random.Random) -> tuple[str, list[str]]:
    return "".join(chance.choices(_TOKENS, k=chance.randrange(60))), []


_KINDS: dict[str, Callable[[random.Random], tuple[str, list[str]]]] = {
    "dressed": _dressed,
    "salted": _salted,
    "truncated": _truncated,
    "bitten": _bitten,
    "noise": _noise,
}


def main() -> None:
    """Run and print the table; exit with 1 where a promise was broken."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    result = fuzz(count)
    print(f"{'streams':>10} {'exceptions':>10} {'lost':>6} {'hangs':>6} {'slowest ms':>10} {'us/stream':>10}")
    print(
        f"{result.streams:>10,} {result.exceptions:>10} {result.lost:>6} {result.hangs:>6}"
        f" {result.slowest_seconds * 1e3:>10.2f} {result.total_seconds / max(result.streams, 1) * 1e6:>10.1f}"
    )
    for failure in result.failures:
        print(failure)
    if result.exceptions or result.lost or result.hangs:
        sys.exit(1)


if __name__ == "__main__":
    main()
