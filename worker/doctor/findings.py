"""What a look at one part came to: what was looked at, what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["ok", "note", "warn", "fail"]

EXIT_STATUS: Mapping[Level, int] = {"ok": 0, "note": 0, "warn": 1, "fail": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One row. `warn` is worse than it should be, `fail` keeps a feature from working; `note` just says."""

    part: str
    level: Level
    looked_at: str
    found: str
    advice: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the row as JSON."""
        return {
            "part": self.part,
            "level": self.level,
            "lookedAt": self.looked_at,
            "found": self.found,
            "advice": self.advice,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Finding:
        """Return the row that `to_json` wrote.

        Raises:
            ValueError: It is none.
        """
        level: Any = value.get("level")
        names = ("part", "lookedAt", "found", "advice")
        part, looked_at, found, advice = (value.get(name) for name in names)
        if level not in EXIT_STATUS or not all(isinstance(value.get(name), str) for name in names):
            raise ValueError("this is no finding")
        return cls(
            part=str(part), level=level, looked_at=str(looked_at), found=str(found), advice=str(advice)
        )


def exit_status(findings: list[Finding]) -> int:
    """Return 0 where all is well, 1 for warnings, 2 for failures."""
    return max((EXIT_STATUS[each.level] for each in findings), default=0)
