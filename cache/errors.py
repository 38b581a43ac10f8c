"""What can go wrong in the cache. None of it ends a request: a lookup turns all of it into a miss.

    CacheError
    ├── InvalidKey           this account, index or query cannot be a key
    ├── EntryTooLarge        the answer is over what a tier can hold
    ├── EntryDamaged         these bytes are not an entry of ours, or not the one that was asked for
    ├── FilterDamaged        this blob is not a filter of ours
    ├── FilterBusy           another process builds the same filter right now
    ├── FlightAbandoned      the caller who was computing the answer went away without one
    ├── CannotWarm           questions cannot be answered in advance here
    └── TierUnavailable      a tier could not answer
        ├── TierBusy         its queue is full
        ├── TierThrottled    it asked to be left alone for a while
        ├── TierFull         it has no room
        ├── TierReadOnly     it takes no writes
        └── TableAbsent      the table has not been created

A caller that wants them all writes `except CacheError`.
"""

from __future__ import annotations


class CacheError(Exception):
    """The base of every error of this package."""


class InvalidKey(CacheError):
    """This account, index or query cannot be a key; the message says which and why."""


class EntryTooLarge(CacheError):
    """The answer is over what a tier can hold."""


class EntryDamaged(CacheError):
    """These bytes are not an entry of ours, or not the one that was asked for."""


class FilterDamaged(CacheError):
    """This blob is not a filter of ours."""


class FilterBusy(CacheError):
    """Another process builds the same filter right now."""


class FlightAbandoned(CacheError):
    """The caller who was computing the answer went away without one."""


class CannotWarm(CacheError):
    """Questions cannot be answered in advance here; the message says what is missing."""


class TierUnavailable(CacheError):
    """A tier could not answer; `tier` is the name that log and metrics use."""

    def __init__(self, tier: str, message: str) -> None:
        super().__init__(f"{tier}: {message}")
        self.tier = tier


class TierBusy(TierUnavailable):
    """The tier's queue is full."""


class TierThrottled(TierUnavailable):
    """The tier asked to be left alone for a while."""


class TierFull(TierUnavailable):
    """The tier has no room."""


class TierReadOnly(TierUnavailable):
    """The tier takes no writes."""


class TableAbsent(TierUnavailable):
    """The table has not been created; `aisle cache create-table` does it."""
