"""The table of cached queries in DynamoDB.

An item is `pk, scope, written_at_ms, expires_at, pinned, entry`. DynamoDB deletes expired items hours
late, so `expires_at` is checked on read. A deleted item stays a day without its entry, so that the other
processes see the deletion in the index `by_scope`, which lags a write by well under a second.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from cache.dynamodb_calls import TIER, ConditionFailed, DynamoCalls, DynamoTarget
from cache.dynamodb_schema import SCOPE_INDEX
from cache.errors import TierThrottled
from cache.keys import QueryKey, index_of, scope_of
from cache.query_table import (
    CLOCK_SKEW_MS,
    DROP_RECORD_SECONDS,
    DROPS_SCOPE,
    TOMBSTONE_SECONDS,
    KeyChange,
    TableRow,
)

_INDEXES = "!indexes"
"""`!indexes#{account}` lists the account's indexes, because a key-only index cannot be asked for them."""

_BATCH = 25
"""DynamoDB's own limit for one BatchWriteItem."""

_MAX_BATCH_ROUNDS = 20

_MAX_REGISTERED = 100_000


class DynamoDBTable:
    """Keeps cached answers in one DynamoDB table."""

    name = TIER

    def __init__(self, target: DynamoTarget, *, clock: Callable[[], float] = time.time) -> None:
        self._table = target.table_name
        self._calls = DynamoCalls(target)
        self._clock = clock
        self._registered: set[str] = set()

    async def get(self, key: QueryKey) -> TableRow | None:
        """Return the row of a key, read consistently.

        Raises:
            TierUnavailable: DynamoDB could not answer.
        """
        answer = await self._calls.call(
            "get_item", TableName=self._table, Key={"pk": {"S": key.text}}, ConsistentRead=True
        )
        item = answer.get("Item")
        if item is None or "entry" not in item:
            return None
        expires_at = int(item["expires_at"]["N"]) if "expires_at" in item else None
        if expires_at is not None and expires_at <= self._clock():
            return None
        return TableRow(
            entry=item["entry"]["B"],
            written_at_ms=int(item["written_at_ms"]["N"]),
            expires_at=expires_at,
            pinned=item.get("pinned", {}).get("BOOL", False),
        )

    async def put(self, key: QueryKey, row: TableRow) -> bool:
        """Store a row; return False where a pinned or a newer one stands.

        Raises:
            EntryTooLarge: DynamoDB refuses an item of this size.
            TierUnavailable: DynamoDB could not store it in time; it may have been stored all the same.
        """
        await self._register(key)
        item = {
            "pk": {"S": key.text},
            "scope": {"S": key.scope},
            "written_at_ms": {"N": str(row.written_at_ms)},
            "pinned": {"BOOL": row.pinned},
            "entry": {"B": row.entry},
        }
        if row.expires_at is not None:
            item["expires_at"] = {"N": str(row.expires_at)}
        condition: dict[str, Any] = {}
        if not row.pinned:
            condition = {
                "ConditionExpression": "attribute_not_exists(pk) OR "
                "(pinned = :no AND NOT written_at_ms BETWEEN :newer AND :skewed)",
                "ExpressionAttributeValues": {
                    ":no": {"BOOL": False},
                    ":newer": {"N": str(row.written_at_ms + 1)},
                    ":skewed": {"N": str(row.written_at_ms + CLOCK_SKEW_MS)},
                },
            }
        try:
            await self._calls.call("put_item", TableName=self._table, Item=item, **condition)
        except ConditionFailed:
            return False
        return True

    async def delete(self, key: QueryKey, *, written_at_ms: int) -> bool:
        """Take the entry out of a row and leave a tombstone; return whether there was one.

        Raises:
            TierUnavailable: DynamoDB could not answer.
        """
        now = int(self._clock())
        try:
            await self._calls.call(
                "update_item",
                TableName=self._table,
                Key={"pk": {"S": key.text}},
                UpdateExpression="SET written_at_ms = :at, expires_at = :until, pinned = :no REMOVE entry",
                ConditionExpression="attribute_exists(entry) AND "
                "(attribute_not_exists(expires_at) OR expires_at > :now)",
                ExpressionAttributeValues={
                    ":at": {"N": str(written_at_ms)},
                    ":until": {"N": str(now + TOMBSTONE_SECONDS)},
                    ":now": {"N": str(now)},
                    ":no": {"BOOL": False},
                },
            )
        except ConditionFailed:
            return False
        return True

    async def drop_account(self, account_id: str, *, written_at_ms: int) -> int:
        """Delete every row of an account, index by index, then tell it in `DROPS_SCOPE`.

        Raises:
            TierUnavailable: DynamoDB could not finish; calling it again continues.
        """
        listed = await self._calls.call(
            "get_item",
            TableName=self._table,
            Key={"pk": {"S": scope_of(_INDEXES, account_id)}},
            ConsistentRead=True,
        )
        dropped = 0
        for index in listed.get("Item", {}).get("indexes", {}).get("SS", ()):
            async with aclosing(self.changes(scope_of(account_id, index), 0)) as pages:
                async for page in pages:
                    await self._delete_all([change.text for change in page])
                    dropped += len(page)
        item = {
            "pk": {"S": scope_of(DROPS_SCOPE, account_id)},
            "scope": {"S": DROPS_SCOPE},
            "written_at_ms": {"N": str(written_at_ms)},
            "expires_at": {"N": str(int(self._clock()) + DROP_RECORD_SECONDS)},
        }
        await self._calls.call("put_item", TableName=self._table, Item=item)
        return dropped

    async def changes(self, scope: str, since_ms: int) -> AsyncGenerator[Sequence[KeyChange], None]:
        """Yield pages of what was written or deleted in a scope at `since_ms` or later, oldest first.

        Raises:
            TierUnavailable: DynamoDB could not answer.
        """
        start: dict[str, Any] = {}
        while True:
            answer = await self._calls.call(
                "query",
                TableName=self._table,
                IndexName=SCOPE_INDEX,
                KeyConditionExpression="#scope = :scope AND written_at_ms >= :since",
                ExpressionAttributeNames={"#scope": "scope"},
                ExpressionAttributeValues={":scope": {"S": scope}, ":since": {"N": str(since_ms)}},
                **start,
            )
            items = answer.get("Items", ())
            if items:
                found = [(item["pk"]["S"], int(item["written_at_ms"]["N"])) for item in items]
                yield [KeyChange(index_of(pk) if scope == DROPS_SCOPE else pk, at) for pk, at in found]
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def close(self) -> None:
        """Close the connections and end the threads."""
        await self._calls.close()

    async def _register(self, key: QueryKey) -> None:
        if key.scope in self._registered:
            return
        await self._calls.call(
            "update_item",
            TableName=self._table,
            Key={"pk": {"S": scope_of(_INDEXES, key.account_id)}},
            UpdateExpression="ADD #indexes :index",
            ExpressionAttributeNames={"#indexes": "indexes"},
            ExpressionAttributeValues={":index": {"SS": [key.index]}},
        )
        if len(self._registered) >= _MAX_REGISTERED:
            self._registered.clear()
        self._registered.add(key.scope)

    async def _delete_all(self, texts: Sequence[str]) -> None:
        for first in range(0, len(texts), _BATCH):
            requests: list[Any] = [
                {"DeleteRequest": {"Key": {"pk": {"S": text}}}} for text in texts[first : first + _BATCH]
            ]
            for _ in range(_MAX_BATCH_ROUNDS):
                answer = await self._calls.call("batch_write_item", RequestItems={self._table: requests})
                requests = answer.get("UnprocessedItems", {}).get(self._table, [])
                if not requests:
                    break
            else:
                raise TierThrottled(self.name, f"dynamodb left {len(requests)} deletions unprocessed")
