"""Reads a merchant's prompt before it is used: what the locked block would overrule, secrets, unknown facets.

An error keeps a version from being published; a warning is shown. The rules know phrases, not meaning: they
save an honest merchant from a mistake, while the locked block is what holds against the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from search_proxy.accounts.prompt_slots import PromptSlots
from search_proxy.accounts.prompt_text import estimated_tokens, rendered_slots

LONG_PROMPT_TOKENS = 1_200
"""Above it the merchant's part costs more than the shopper's question and slows the first category."""

_SECRETS = (
    (r"\b[psd]k_[0-9a-z]{12}[._]", "a key of this service"),
    (r"\bAIza[0-9A-Za-z_-]{30,}", "a Google API key"),
    (r"\bsk-[A-Za-z0-9_-]{20,}", "an API key"),
    (r"\bAKIA[0-9A-Z]{16}\b", "an AWS access key"),
    (r"\bgh[pousr]_[A-Za-z0-9]{30,}", "an access token"),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----", "a private key"),
    (r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.", "a signed token"),
    (r"(?i)\b(?:password|passwd|api[ _-]?key|secret)\s*[:=]\s*\S{6,}", "a password or key"),
)
_OVERRULED = (
    (
        r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|above|previous|safety)\b",
        "asks to ignore the rules",
    ),
    (
        r"(?i)\b(?:reveal|print|repeat|show)\b.{0,30}\b(?:system prompt|instructions?|prompt)\b",
        "asks to repeat the instructions",
    ),
    (r"(?i)\b(?:invent|make up|fabricate)\b", "asks to invent facts"),
    (
        r"(?i)\b(?:only|just) (?:a few|\d+|few) (?:left|remaining)\b|\b(?:create|add)\b.{0,20}\burgency\b",
        "asks for scarcity or urgency that the data may not show",
    ),
    (
        r"(?i)\b(?:always|every|all)\b.{0,40}\b(?:in stock|available|on sale|discounted)\b",
        "states stock or discounts for everything",
    ),
    (
        r"(?i)\bignore\b.{0,20}\bbudget\b|\babove (?:the|their) budget\b",
        "asks to go past the shopper's budget",
    ),
    (
        r"(?i)\b(?:cures?|heals?|treats?) (?:cancer|disease|illness|depression|diabetes)\b",
        "makes a medical claim",
    ),
)
_NEGATED = re.compile(r"(?i)\b(?:not|never|no|don't|avoid|without)\b[^.;\n]{0,25}\Z")
_MARKUP = re.compile(r"<\s*(?:script|iframe|img|a)\b|javascript:|https?://", re.IGNORECASE)
_FACET = re.compile(r"`([^`\n]{1,80})`|\b([A-Za-z_][A-Za-z0-9_.]{1,60}):(?=[(\[A-Za-z0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One remark: where it is, how grave, and what is wrong. It never repeats a secret."""

    slot: str
    severity: Literal["error", "warning"]
    message: str


def lint_prompt(slots: PromptSlots, known_fields: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Return what is wrong with a prompt, the gravest first.

    `known_fields` are the index's fields; without them facet names are not checked.
    """
    findings = [*_phrases(slots), *_contradictions(slots), *_length(slots)]
    if known_fields is not None:
        findings += _facets(slots, known_fields)
    return tuple(sorted(findings, key=lambda finding: (finding.severity, finding.slot)))


def has_errors(findings: Collection[Finding]) -> bool:
    """Return whether a version with these findings must not be published."""
    return any(finding.severity == "error" for finding in findings)


def _texts(slots: PromptSlots) -> Iterator[tuple[str, str]]:
    for name, value in slots:
        for number, text in enumerate((value,) if isinstance(value, str) else value):
            yield (name if isinstance(value, str) else f"{name}.{number}"), text


def _phrases(slots: PromptSlots) -> Iterator[Finding]:
    for slot, text in _texts(slots):
        for pattern, what in _SECRETS:
            if re.search(pattern, text):
                yield Finding(slot=slot, severity="error", message=f"holds what looks like {what}")
        if not slot.startswith(("dont", "banned")):
            for pattern, what in _OVERRULED:
                match = re.search(pattern, text)
                if match is not None and _NEGATED.search(text[: match.start()]) is None:
                    message = f"{what}; the locked rules say otherwise and win"
                    yield Finding(slot=slot, severity="error", message=message)
        if _MARKUP.search(text):
            message = "holds markup or an address; the summary links products only"
            yield Finding(slot=slot, severity="warning", message=message)


def _contradictions(slots: PromptSlots) -> Iterator[Finding]:
    wanted = {_plain(line): number for number, line in enumerate(slots.do)}
    for number, line in enumerate(slots.dont):
        plain = re.sub(r"^(?:do not|don t|never|no) ", "", _plain(line))
        if plain in wanted:
            message = f"says the opposite of do.{wanted[plain]}"
            yield Finding(slot=f"dont.{number}", severity="error", message=message)


def _length(slots: PromptSlots) -> Iterator[Finding]:
    tokens = estimated_tokens(rendered_slots(slots))
    if tokens > LONG_PROMPT_TOKENS:
        message = f"has about {tokens} tokens; over {LONG_PROMPT_TOKENS} every answer starts later"
        yield Finding(slot="all slots", severity="warning", message=message)


def _facets(slots: PromptSlots, known_fields: Collection[str]) -> Iterator[Finding]:
    known = {field.lower() for field in known_fields} | {"_id"}
    for slot, text in _texts(slots):
        for match in _FACET.finditer(text):
            name = (match.group(1) or match.group(2)).partition(":")[0].strip()
            if match.group(2) and name.lower() in {"http", "https"}:
                continue
            if name.lower() not in known:
                shown = ", ".join(sorted(known_fields)[:12]) or "none"
                message = f"names field {name!r}, which the index does not have; it has {shown}"
                yield Finding(slot=slot, severity="warning", message=message)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
