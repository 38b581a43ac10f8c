"""What shoppers say of a product, in short, and the jobs that store it: the values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

JobKind = Literal["store_reviews", "delete_reviews"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The summary of a product's reviews."""

    id: str
    summary: str
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewWork:
    """What a job has to do: reviews to store, or ids whose reviews go."""

    stored: tuple[Review, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The products that the job is about."""
        return (*(review.id for review in self.stored), *self.deleted)

    def to_json(self) -> dict[str, Any]:
        """Return the work as JSON."""
        return {"stored": [[each.id, each.summary] for each in self.stored], "deleted": list(self.deleted)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ReviewWork:
        """Return the work of stored JSON; done work is empty."""
        stored = tuple(Review(id=row[0], summary=row[1]) for row in value.get("stored", ()))
        return cls(stored=stored, deleted=tuple(value.get("deleted", ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobItem:
    """How one document of a job went: 200, or 404 where the index has no such document."""

    id: str
    status: int
    message: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the item of a job's answer."""
        item: dict[str, Any] = {"_id": self.id, "status": self.status}
        return item if self.message is None else item | {"message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that was accepted: `status` is queued, done or failed."""

    id: str
    account_id: str
    index: str
    kind: JobKind
    created_at: float
    work: ReviewWork = ReviewWork()
    status: Literal["queued", "done", "failed"] = "queued"
    finished_at: float | None = None
    items: tuple[JobItem, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """Return the job as its owner sees it. Source: docs/wire-format.md, reviews."""
        return {
            "jobId": self.id,
            "kind": self.kind,
            "status": self.status,
            "createdAt": self.created_at,
            "finishedAt": self.finished_at,
            "items": [item.to_wire() for item in self.items],
        }
