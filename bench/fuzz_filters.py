"""Throws random texts at the filter parser: only a syntax error may come back, or a tree that round-trips.

`python -m bench.fuzz_filters [COUNT] [SEED]`; half of the texts are mutated valid filters, half are made of
the grammar's own pieces.
"""

from __future__ import annotations

import random
import statistics
import sys
import time

from search_proxy.filters import Filter, FilterSyntaxError, merge_filters, parse_filter

_COUNT = 500_000
_PIECES = (
    *("a", "é", "_id", "price", "1", "-2.5e3", "nan", '"', "'", "x y", "\t", "\n", "\0", "\ud800", "𝄞"),
    *(":", " ", "  ", ",", ", ", "\\", "(", ")", "[", "]", "*", ":(", ":["),
    *(" AND ", " OR ", "NOT ", "AND", "not ", " TO ", " IN (", " in ", " CONTAINS ", " contains ("),
    *("a:b", "c:(d e)", "f:[1 TO 2]", "g IN (h, (i j))", "k CONTAINS l"),
)
_VALUES = ("x", "(y z)", "(a\\)b)", "a\\ b", '"q"', "b(c", "\\[x", "*", "0", "1e5", "(\\\\)")


def main() -> None:
    """Run the texts and print one table; the first text that breaks a promise ends it with an error."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    source = random.Random(seed)
    read = refused = 0
    spent_us: list[float] = []
    previous: Filter | None = None
    for _ in range(count):
        text = _valid_mutated(source) if source.random() < 0.5 else _pieces(source)
        started = time.perf_counter_ns()
        parsed = _parse(text)
        spent_us.append((time.perf_counter_ns() - started) / 1_000)
        if parsed is None:
            refused += 1
            continue
        read += 1
        _check_round_trip(text, parsed)
        merged = merge_filters(previous, parsed)
        if merged is not None:
            _check_round_trip(text, merged)
        previous = parsed
    cuts = statistics.quantiles(spent_us, n=1_000)
    print("| texts | read | refused | round trips | p50 µs | p99 µs | p99.9 µs | max µs | seed |")
    print("|---|---|---|---|---|---|---|---|---|")
    figures = " | ".join(f"{value:.1f}" for value in (cuts[499], cuts[989], cuts[998], max(spent_us)))
    print(f"| {count:,} | {read:,} | {refused:,} | {2 * read:,} | {figures} | {seed} |")


def _parse(text: str) -> Filter | None:
    try:
        return parse_filter(text)
    except FilterSyntaxError as refusal:
        if not 0 <= refusal.position <= len(text):
            raise AssertionError(f"position {refusal.position} is outside of {text!r}") from refusal
        return None


def _check_round_trip(text: str, parsed: Filter) -> None:
    if parse_filter(str(parsed)) != parsed:
        raise AssertionError(f"{text!r} is written as {str(parsed)!r}, which is another filter")


def _pieces(source: random.Random) -> str:
    return "".join(source.choices(_PIECES, k=source.randint(1, 14)))


def _valid_mutated(source: random.Random) -> str:
    text = _expression(source, 2)
    for _ in range(source.choice((0, 0, 1, 3))):
        cut = source.randrange(len(text) + 1)
        text = text[:cut] + source.choice((*_PIECES, "")) + text[cut + source.randint(0, 2) :]
    return text


def _expression(source: random.Random, depth: int) -> str:
    operands: list[str] = []
    for _ in range(source.choice((1, 1, 2, 3, 4))):
        nested = depth and source.random() < 0.35
        operand = f"({_expression(source, depth - 1)})" if nested else _term(source)
        operands.append(f"NOT {operand}" if source.random() < 0.25 else operand)
    return source.choice((" AND ", " OR ", "  AND ")).join(operands)


def _term(source: random.Random) -> str:
    field = source.choice(("a", "b\\ c", "_id", "m.k", "x\\:y", "NOT", "é"))
    form = source.random()
    if form < 0.4:
        return f"{field}:{source.choice(_VALUES)}"
    if form < 0.6:
        lower, upper = source.choice(("1", "*", "-3", "9" * 40)), source.choice(("5", "7.5", "1e400"))
        return f"{field}:[{lower} TO {upper}]"
    if form < 0.85:
        items = source.choices((*_VALUES, ""), k=source.randint(1, 4))
        return f"{field} IN ({source.choice((',', ', ')).join(items)})"
    return f"{field} CONTAINS {source.choice(_VALUES)}"


if __name__ == "__main__":
    main()
