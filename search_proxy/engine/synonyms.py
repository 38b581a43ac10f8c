"""Words that mean the same in one shop: `sofa, couch, settee` or one way `tv => television`.

Kept as a text file beside the index, a rule per line; both sides may have several words.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from search_proxy.engine.languages import TextAnalysis
from search_proxy.errors import InvalidSearch

FILE = "synonyms.txt"
MAX_RULES = 10_000
MAX_WORDS = 6

Terms = tuple[str, ...]


def parse_synonyms(lines: Sequence[str], analysis: TextAnalysis) -> Mapping[Terms, tuple[Terms, ...]]:
    """Return for each sequence of terms those that mean the same.

    Raises:
        InvalidSearch: A line is not a rule; the message names it.
    """
    if len(lines) > MAX_RULES:
        raise InvalidSearch(f"synonyms must have at most {MAX_RULES} lines, not {len(lines)}")
    meanings: dict[Terms, dict[Terms, None]] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        left, arrow, right = text.partition("=>")
        sources = _sequences(left, analysis, number)
        targets = _sequences(right, analysis, number) if arrow else sources
        if not arrow and len(sources) < 2:
            raise InvalidSearch(f"synonyms line {number} must be 'a, b' or 'a => b', not {line!r}")
        for source in sources:
            for target in targets:
                if source != target:
                    meanings.setdefault(source, {})[target] = None
    return {source: tuple(targets) for source, targets in meanings.items()}


def read_synonyms(folder: Path) -> Sequence[str]:
    """Return the lines of the index's synonyms; none where it has none."""
    try:
        return (folder / FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def write_synonyms(folder: Path, lines: Sequence[str], analysis: TextAnalysis) -> None:
    """Replace the index's synonyms in one step.

    Raises:
        InvalidSearch: A line is not a rule; nothing was changed.
    """
    parse_synonyms(lines, analysis)
    draft = folder / f"{FILE}.{secrets.token_hex(4)}"
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draft.replace(folder / FILE)


def _sequences(side: str, analysis: TextAnalysis, number: int) -> list[Terms]:
    found = [tuple(analysis.analyze(part)) for part in side.split(",")]
    if not all(found) or any(len(terms) > MAX_WORDS for terms in found):
        raise InvalidSearch(f"synonyms line {number} must have 1 to {MAX_WORDS} words between commas")
    return found
