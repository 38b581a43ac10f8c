"""How conversations behave: the numbers, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

MAX_FILE_BYTES = 16 * 1024**3
"""Two million conversations of four turns; beyond it Redis is the right storage."""

DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPolicy:
    """The rules of every conversation of a process.

    Attributes:
        history: Turns handed to the model.
        keep: Turns stored; the oldest go first.
        idle_seconds: A conversation unused for so long is deleted by its alarm.
        lease_seconds: How long a lease lasts; it is renewed while its process lives, so this is also how long
            a conversation is shut after its process was killed.
        lease_wait_seconds: How long a turn waits for those before it; longer than a lease and than the model.
        lease_poll_seconds: First pause between two looks at a lease that another process holds; doubles.
        release_seconds: How long leaving a turn may wait for the storage.
        alarm_interval_seconds: Pause between two looks for due alarms.
        alarm_claim_seconds: An alarm that was claimed fires elsewhere after so long without an outcome.
        alarm_retry_seconds: Pause after a first failure of an alarm; doubles up to an hour.

    Source: flow document, step 9.
    """

    history: int = 10
    keep: int = 100
    idle_seconds: float = 30 * DAY_SECONDS
    lease_seconds: float = 3.0
    lease_wait_seconds: float = 10.0
    lease_poll_seconds: float = 0.01
    release_seconds: float = 1.0
    alarm_interval_seconds: float = 30.0
    alarm_claim_seconds: float = 60.0
    alarm_retry_seconds: float = 2.0
