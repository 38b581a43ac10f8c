"""Metric values with bounded labels, cheap enough for every request, and what they look like when read.

A family never grows past its bound: a label set that is one too many is counted under `other`. Values are
plain numbers of one process; `merged` puts those of several together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Labels = tuple[str, ...]
Kind = Literal["counter", "gauge", "histogram"]
Merge = Literal["sum", "max"]

OTHER = "other"
MAX_SERIES = 400
"""Label sets of one family; the largest has about forty in a healthy server."""

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""From a cache lookup to the longest run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric as it is read.

    A sample of a histogram is the counts by bucket, the last one above all of `buckets`, and then the sum.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels = ()
    samples: dict[Labels, Any]
    merge: Merge = "sum"
    buckets: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the family as JSON for a peer."""
        rows = [[list(labels), value] for labels, value in self.samples.items()]
        return {
            "name": self.name,
            "kind": self.kind,
            "help": self.help,
            "labels": self.labels,
            "samples": rows,
            "merge": self.merge,
            "buckets": self.buckets,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Family:
        """Return the family that a peer wrote."""
        samples = {tuple(labels): sample for labels, sample in value.pop("samples")}
        buckets = tuple(value.pop("buckets"))
        return cls(**value | {"labels": tuple(value["labels"])}, samples=samples, buckets=buckets)


class Counted:
    """A counter by labels."""

    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Labels = (),
        *,
        max_series: int = MAX_SERIES,
        known: Iterable[str] = (),
    ) -> None:
        self._name, self._help, self._labels, self._max_series = name, meaning, labels, max_series
        # Words that are known beforehand start at 0, so that the first of them is seen as an increase.
        self._values: dict[Labels, float] = {(word,): 0.0 for word in known}

    def add(self, labels: Labels = (), amount: float = 1.0) -> None:
        """Count `amount` more under these labels, or under `other` where they are one set too many."""
        values = self._values
        if labels in values:
            values[labels] += amount
        elif len(values) < self._max_series:
            values[labels] = amount
        else:
            others = (OTHER,) * len(labels)
            values[others] = values.get(others, 0.0) + amount

    def family(self) -> Family:
        """Return what was counted; one that takes no labels is 0 before it has counted anything."""
        samples: dict[Labels, Any] = dict(self._values) if self._values or self._labels else {(): 0.0}
        return Family(name=self._name, kind="counter", help=self._help, labels=self._labels, samples=samples)


class Timed:
    """A histogram of seconds by labels."""

    def __init__(
        self,
        name: str,
        meaning: str,
        labels: Labels = (),
        *,
        buckets: tuple[float, ...] = SECONDS_BUCKETS,
        max_series: int = 40,
    ) -> None:
        self._name, self._help, self._labels = name, meaning, labels
        self._buckets, self._max_series = buckets, max_series
        self._values: dict[Labels, list[float]] = {}

    def observe(self, labels: Labels, value: float) -> None:
        """Note one value."""
        sample = self._values.get(labels)
        if sample is None:
            sample = self._added(labels)
        sample[bisect_left(self._buckets, value)] += 1
        sample[-1] += value

    def family(self) -> Family:
        """Return what was noted."""
        return Family(
            name=self._name,
            kind="histogram",
            help=self._help,
            labels=self._labels,
            samples={labels: list(sample) for labels, sample in self._values.items()},
            buckets=self._buckets,
        )

    def _added(self, labels: Labels) -> list[float]:
        if len(self._values) >= self._max_series:
            labels = (OTHER,) * len(labels)
        return self._values.setdefault(labels, [0.0] * (len(self._buckets) + 2))


def counter(
    name: str, meaning: str, samples: dict[Labels, float], labels: Labels = (), merge: Merge = "sum"
) -> Family:
    """Return a counter of what somebody else has counted."""
    return Family(name=name, kind="counter", help=meaning, labels=labels, samples=dict(samples), merge=merge)


def gauge(
    name: str, meaning: str, samples: dict[Labels, float], labels: Labels = (), merge: Merge = "sum"
) -> Family:
    """Return a gauge; `merge` says what several processes have together."""
    return Family(name=name, kind="gauge", help=meaning, labels=labels, samples=dict(samples), merge=merge)


def of_worker(family: Family, slot: int) -> Family:
    """Return a family as one worker's part of a server.

    What only grows keeps its worker as a label: a worker that starts again begins at 0, and a sum that falls
    would look as if all had.
    """
    if family.kind == "gauge":
        return family
    samples = {(*labels, str(slot)): value for labels, value in family.samples.items()}
    return replace(family, labels=(*family.labels, "worker"), samples=samples)


def merged(parts: Iterable[Sequence[Family]]) -> list[Family]:
    """Return the families of several processes as those of one server."""
    whole: dict[str, Family] = {}
    for family in (family for part in parts for family in part):
        known = whole.get(family.name)
        if known is None:
            whole[family.name] = replace(family, samples=dict(family.samples))
            continue
        for labels, value in family.samples.items():
            mine = known.samples.get(labels)
            known.samples[labels] = value if mine is None else _together(mine, value, known)
    return list(whole.values())


def _together(mine: Any, other: Any, family: Family) -> Any:
    if family.kind == "histogram":
        return [one + two for one, two in zip(mine, other, strict=True)]
    return max(mine, other) if family.merge == "max" else mine + other
