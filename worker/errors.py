"""What can go wrong in the worker, with the status and code a client sees.

WorkerError                 status, code
├── InvalidRequest          400 invalid_argument      the payload is wrong; the message says where
├── FeatureDisabled         400 feature_disabled      the account has not switched this on
├── NotFound                404 not_found             no such run, document or conversation
├── PayloadTooLarge         413 payload_too_large
├── TooManyTurns            429 too_many_requests     the conversation has too many turns under way
├── UpstreamFailed          502 upstream_failed       search or model could not answer
│   └── PlanningFailed      502 planning_failed       no plan, by model or rules
├── ShuttingDown            503 shutting_down         this process takes no new work
└── DeadlineExceeded        504 deadline_exceeded
"""

from __future__ import annotations

from typing import ClassVar


class WorkerError(Exception):
    """The base of every error of this package; `message` is shown to clients and holds no secret."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidRequest(WorkerError):
    """The payload is wrong."""

    status = 400
    code = "invalid_argument"


class FeatureDisabled(WorkerError):
    """The account has not switched this on."""

    status = 400
    code = "feature_disabled"


class NotFound(WorkerError):
    """There is no such thing, or not for this caller."""

    status = 404
    code = "not_found"


class PayloadTooLarge(WorkerError):
    """The payload is over its limit."""

    status = 413
    code = "payload_too_large"


class TooManyTurns(WorkerError):
    """Too many turns of one conversation wait for each other."""

    status = 429
    code = "too_many_requests"
    retryable = True


class UpstreamFailed(WorkerError):
    """Search or model could not answer."""

    status = 502
    code = "upstream_failed"
    retryable = True


class PlanningFailed(UpstreamFailed):
    """There is no plan, by model or by rules."""

    code = "planning_failed"


class ShuttingDown(WorkerError):
    """This process takes no new work."""

    status = 503
    code = "shutting_down"
    retryable = True


class DeadlineExceeded(WorkerError):
    """It took too long."""

    status = 504
    code = "deadline_exceeded"
    retryable = True
