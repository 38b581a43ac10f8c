"""What one process's cache is made of; the composition root fills it from the process's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cache.edge_cache import EdgeTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoConfig:
    """Where the DynamoDB table is; without credentials, the AWS chain of the machine finds them."""

    region: str = "us-east-1"
    endpoint_url: str | None = None
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    deadline_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """The cache of one process. Every bound has a default that suits one machine."""

    environment: str = "dev"
    data_dir: Path
    """Holds `cache.sqlite3` and `filters/`; the processes of one machine share it."""

    edge: Literal["in_process", "redis"] = "in_process"
    edge_max_bytes: int = 64 * 1024 * 1024
    edge_times: EdgeTimes = EdgeTimes()
    redis_url: str | None = field(default=None, repr=False)
    """Needed for `edge="redis"`; with it, flights are shared between processes too."""

    table: Literal["sqlite", "dynamodb"] = "sqlite"
    sqlite_max_bytes: int = 4 * 1024**3
    dynamodb: DynamoConfig = DynamoConfig()
    entry_seconds: int = 30 * 86_400
    """How long the table keeps an answer that nobody has pinned."""

    edge_budget_seconds: float = 0.020
    table_budget_seconds: float = 0.050

    flight_budget_seconds: float = 0.150
    """How long a caller waits for Redis to say who leads, and a leader for it to take the flight's end.

    A second model call costs more than this, and first hits do not wait for it.
    """
    flight_lease_seconds: float = 6.0
    """How long followers wait for a leading process that has died; a living one renews it in time."""

    filter_max_age_seconds: float = 86_400.0
    filter_rebuild_seconds: float = 3600.0
    filter_rebuild_writes: int = 10_000
    poll_seconds: float = 2.0
    upkeep_seconds: float = 30.0

    max_background: int = 2048
    drain_seconds: float = 2.0

    def __post_init__(self) -> None:
        if self.edge == "redis" and not self.redis_url:
            raise ValueError("edge 'redis' needs redis_url, for example 'redis://127.0.0.1:6379/0'")
        if not self.environment or not all(part.isalnum() or part in "-_." for part in self.environment):
            raise ValueError(
                f"environment must be letters, digits, '-', '_' or '.', got {self.environment!r}"
            )

    @property
    def sqlite_path(self) -> Path:
        """Where the embedded table is kept."""
        return self.data_dir / "cache.sqlite3"

    @property
    def filter_folder(self) -> Path:
        """Where the filters are kept."""
        return self.data_dir / "filters"
