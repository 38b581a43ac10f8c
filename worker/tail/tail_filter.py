"""Which finished requests a follower wants to see: the same rules on a server, a file and standard input."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

from worker.observe.completion import CompletionOutcome

STATUSES: tuple[str, ...] = get_args(CompletionOutcome)
SOURCES = ("llm", "cached", "short_query_bypass", "catalog", "search", "error", "degraded")
"""The log line's sources, and `degraded`: answered by the rules because the model failed."""

_MAX_VALUES = 32
_MAX_LENGTH = 200


class TailRefused(ValueError):
    """A filter cannot be read; the message names it and says what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TailFilter:
    """Every part that is set must hold; several values of one part are alternatives.

    `search` is a text that the line must contain somewhere, in any case. `sampling_rate` keeps that share of
    the requests, the same ones for everybody who watches.
    """

    statuses: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    accounts: frozenset[str] = frozenset()
    indexes: frozenset[str] = frozenset()
    prompt_versions: frozenset[str] = frozenset()
    slower_than_ms: float | None = None
    search: str | None = None
    filter_dropped: bool = False
    sampling_rate: float = 1.0

    def wants(self, line: Mapping[str, Any]) -> bool:
        """Return whether a log line passes all parts but `search`, which looks at its text."""
        if self.statuses and _text(line, "outcome") not in self.statuses:
            return False
        if self.sources and not self._has_source(line):
            return False
        if self.accounts and _text(line, "account") not in self.accounts:
            return False
        if self.indexes and _text(line, "index") not in self.indexes:
            return False
        if self.prompt_versions and str(line.get("prompt_version")) not in self.prompt_versions:
            return False
        if self.slower_than_ms is not None and not _milliseconds(line) > self.slower_than_ms:
            return False
        if self.filter_dropped and not line.get("filters_dropped"):
            return False
        return self.sampling_rate >= 1.0 or _share(line) < self.sampling_rate

    def wants_text(self, text: str) -> bool:
        """Return whether the line's own text holds what is searched for."""
        return self.search is None or self.search in text.casefold()

    def parameters(self) -> list[tuple[str, str]]:
        """Return the filter as query parameters, as `read_tail_filter` takes them."""
        many = {name: getattr(self, attribute) for name, attribute in _MANY.items()}
        pairs = [(name, value) for name, values in many.items() for value in sorted(values)]
        if self.slower_than_ms is not None:
            pairs.append(("slower-than", f"{self.slower_than_ms:g}"))
        if self.search is not None:
            pairs.append(("search", self.search))
        if self.filter_dropped:
            pairs.append(("filter-dropped", "true"))
        if self.sampling_rate < 1.0:
            pairs.append(("sampling-rate", f"{self.sampling_rate:g}"))
        return pairs

    def _has_source(self, line: Mapping[str, Any]) -> bool:
        if _text(line, "source") in self.sources:
            return True
        return "degraded" in self.sources and line.get("degraded") is not None


def read_tail_filter(pairs: Iterable[tuple[str, str]]) -> TailFilter:
    """Return the filter that `(name, value)` pairs describe; the names are those of the command's options.

    Raises:
        TailRefused: A name is unknown, or a value is not one of those possible.
    """
    many: dict[str, set[str]] = {name: set() for name in _MANY}
    single: dict[str, str] = {}
    for name, value in pairs:
        if name not in _MANY and name not in _SINGLE:
            raise TailRefused(f"{name!r} is not a filter; there are {', '.join((*_MANY, *_SINGLE))}")
        if not value.strip() or len(value) > _MAX_LENGTH:
            raise TailRefused(f"{name} must have 1 to {_MAX_LENGTH} characters")
        if name in _SINGLE:
            if name in single:
                raise TailRefused(f"{name} stands twice; once is enough")
            single[name] = value.strip()
            continue
        many[name].add(value.strip())
        if len(many[name]) > _MAX_VALUES:
            raise TailRefused(f"{name} has over {_MAX_VALUES} values")
    _check_words("status", many["status"], STATUSES)
    _check_words("source", many["source"], SOURCES)
    return TailFilter(
        statuses=frozenset(many["status"]),
        sources=frozenset(many["source"]),
        accounts=frozenset(many["account"]),
        indexes=frozenset(many["index"]),
        prompt_versions=frozenset(many["prompt-version"]),
        slower_than_ms=_number(single, "slower-than", lowest=0, highest=1e9),
        search=single["search"].casefold() if "search" in single else None,
        filter_dropped=_flag(single, "filter-dropped"),
        sampling_rate=_number(single, "sampling-rate", lowest=0, highest=1) or 1.0,
    )


_MANY = {
    "status": "statuses",
    "source": "sources",
    "account": "accounts",
    "index": "indexes",
    "prompt-version": "prompt_versions",
}
_SINGLE = ("slower-than", "search", "filter-dropped", "sampling-rate")
assert set(_MANY.values()) <= {each.name for each in fields(TailFilter)}


def _check_words(name: str, given: set[str], known: tuple[str, ...]) -> None:
    unknown = sorted(given - set(known))
    if unknown:
        raise TailRefused(f"{name} {unknown[0]!r} is unknown; it is one of {', '.join(known)}")


def _number(single: Mapping[str, str], name: str, *, lowest: float, highest: float) -> float | None:
    if name not in single:
        return None
    try:
        number = float(single[name])
    except ValueError:
        number = math.nan
    if not lowest <= number <= highest or (name == "sampling-rate" and number == 0):
        above = "above 0 and at most 1" if name == "sampling-rate" else "of milliseconds, 0 or more"
        raise TailRefused(f"{name} {single[name]!r} is no number {above}")
    return number


def _flag(single: Mapping[str, str], name: str) -> bool:
    value = single.get(name, "false")
    if value not in {"true", "false"}:
        raise TailRefused(f"{name} {value!r} is neither true nor false")
    return value == "true"


def _text(line: Mapping[str, Any], name: str) -> str | None:
    """Return a field that should be text; a line of a file may hold anything under any name."""
    value = line.get(name)
    return value if isinstance(value, str) else None


def _milliseconds(line: Mapping[str, Any]) -> float:
    timings = line.get("timings")
    value = timings.get("E2E") if isinstance(timings, Mapping) else None
    return float(value) if isinstance(value, int | float) else -1.0


def _share(line: Mapping[str, Any]) -> float:
    """Return a number from 0 to 1 that belongs to the request: every watcher keeps the same ones."""
    name = str(line.get("run_id") or line.get("request_id") or line.get("time"))
    return int.from_bytes(hashlib.sha256(name.encode(errors="replace")).digest()[:6], "big") / 2**48
