"""Calls DynamoDB: three threads, a deadline for each call, and our own retries within it.

boto3 holds the interpreter's lock for most of a call, so more threads only make the event loop wait.
Between two tries nothing sleeps in a thread. Measured: docs/caching.md.
"""

from __future__ import annotations

import asyncio
import random
import threading
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004
    HTTPClientError,
    IncompleteReadError,
)

from cache.errors import CacheError, EntryTooLarge, TableAbsent, TierBusy, TierThrottled, TierUnavailable

TIER = "table"

_THREADS = 3
_MAX_WAITING = 256
"""At three threads and a millisecond a call, the last in this queue waits under a tenth of a second."""

_ATTEMPT_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.025
_LONGEST_PAUSE_SECONDS = 0.4

_THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "ThrottlingError",
        "RequestLimitExceeded",
    }
)
_TRANSIENT = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable", "500", "502", "503"})


class ConditionFailed(CacheError):
    """The condition of a write did not hold; not an error of the tier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoTarget:
    """Which table, where, and as whom; without credentials, boto3's own chain finds them."""

    table_name: str
    region: str = "us-east-1"
    endpoint_url: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    deadline_seconds: float = 2.0


class DynamoCalls:
    """Runs one operation of the DynamoDB client at a time per thread."""

    def __init__(self, target: DynamoTarget) -> None:
        self._target = target
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="cache-dynamodb")
        self._making = threading.Lock()
        self._client: Any = None
        self._waiting = 0

    async def call(self, operation: str, **parameters: Any) -> Mapping[str, Any]:
        """Return the answer to one operation on the table, retried while the deadline allows.

        Raises:
            ConditionFailed: The write's condition did not hold.
            EntryTooLarge: The item is over 400 KB.
            TierUnavailable: No answer within the deadline, or a refusal that a retry does not cure.
        """
        if self._waiting >= _MAX_WAITING:
            raise TierBusy(TIER, f"{self._waiting} calls wait already")
        self._waiting += 1
        last: TierUnavailable | None = None
        try:
            async with asyncio.timeout(self._target.deadline_seconds):
                for attempt in range(1_000):
                    try:
                        return await self._attempt(operation, parameters)
                    except _Retryable as error:
                        last = error.refused
                    await asyncio.sleep(_pause(attempt))
        except TimeoutError as error:
            raise last or TierUnavailable(
                TIER, f"dynamodb did not answer {operation} within {self._target.deadline_seconds} s"
            ) from error
        finally:
            self._waiting -= 1
        raise last or TierUnavailable(TIER, f"dynamodb refused {operation} too often")

    async def close(self) -> None:
        """Close the connections and end the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            await asyncio.to_thread(self._client.close)

    async def _attempt(self, operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, partial(self._blocking, operation, parameters))
        except ClientError as error:
            raise _translated(operation, error) from error
        except (HTTPClientError, ConnectionError, IncompleteReadError) as error:
            raise _Retryable(TierUnavailable(TIER, f"dynamodb is not reachable: {error}")) from error
        except BotoCoreError as error:
            raise TierUnavailable(TIER, f"dynamodb cannot be called: {error}") from error

    def _blocking(self, operation: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = getattr(self._connected(), operation)(**parameters)
        return answer

    def _connected(self) -> Any:
        with self._making:
            if self._client is None:
                self._client = open_client(self._target)
            return self._client


def open_client(target: DynamoTarget, *, attempt_seconds: float = _ATTEMPT_SECONDS) -> Any:
    """Return a boto3 client that never retries by itself; blocking, takes about 0.1 s."""
    client = boto3.session.Session().client(
        "dynamodb",
        region_name=target.region,
        endpoint_url=target.endpoint_url,
        aws_access_key_id=target.access_key_id,
        aws_secret_access_key=target.secret_access_key,
        config=Config(
            max_pool_connections=_THREADS,
            connect_timeout=attempt_seconds,
            read_timeout=attempt_seconds,
            parameter_validation=False,
            # Without a name of ours botocore composes its own twice in every call, an eighth of its time.
            user_agent=f"Boto3/{boto3.__version__}",
            retries={"total_max_attempts": 1, "mode": "standard"},
        ),
    )
    client.meta.events.register("response-received.dynamodb", _refuse_cut_answer)
    return client


def _refuse_cut_answer(response_dict: Mapping[str, Any] | None = None, **_: Any) -> None:
    # botocore takes the body of a connection that broke for a whole one: half an answer would read as "no
    # item", and half a page as the last. AWS and the protocol servers send the length, AWS a checksum too.
    if response_dict is None:
        return
    body, headers = response_dict["body"], response_dict["headers"]
    length, checksum = headers.get("content-length"), headers.get("x-amz-crc32")
    if length is not None and int(length) != len(body):
        raise IncompleteReadError(actual_bytes=len(body), expected_bytes=int(length))
    if checksum is not None and int(checksum) != zlib.crc32(body):
        raise ChecksumMismatch(error=f"crc32 of the answer is not {checksum}")


class ChecksumMismatch(HTTPClientError):
    """The answer was altered on its way."""


class _Retryable(Exception):
    def __init__(self, refused: TierUnavailable) -> None:
        super().__init__(str(refused))
        self.refused = refused


def _pause(attempt: int) -> float:
    longest: float = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10))
    return random.uniform(longest / 2, longest)


def _translated(operation: str, error: ClientError) -> Exception:
    code = str(error.response.get("Error", {}).get("Code", ""))
    message = str(error.response.get("Error", {}).get("Message", ""))
    if code == "ConditionalCheckFailedException":
        return ConditionFailed(f"dynamodb's condition for {operation} did not hold")
    if code in _THROTTLED:
        return _Retryable(TierThrottled(TIER, f"dynamodb throttles {operation}: {code}"))
    if code in _TRANSIENT:
        return _Retryable(TierUnavailable(TIER, f"dynamodb failed {operation}: {code}"))
    if code == "ResourceNotFoundException":
        return TableAbsent(TIER, "the table does not exist; `aisle cache create-table` makes it")
    if code == "ValidationException" and "size" in message.lower():
        return EntryTooLarge(f"dynamodb refused {operation}: {message}")
    return TierUnavailable(TIER, f"dynamodb refused {operation}: {code or error}")
