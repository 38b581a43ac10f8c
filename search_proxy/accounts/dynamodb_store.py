"""Accounts in one DynamoDB table, for every machine of a deployment.

Items: `account#{id}` / `account`, `/ prompt#{index}#{version}`, `/ audit#{version}`. The index `changes`
orders accounts by the time of their last write. Its clock is the writer's, and it lags the table a little, so
a reader looks again at the last minute, and the directory drops the versions that it knows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from search_proxy.accounts.account import Account
from search_proxy.accounts.errors import AccountConflict, AccountRefused, StoreUnavailable
from search_proxy.accounts.history import AuditEntry, PromptVersion
from search_proxy.accounts.store import MAX_ACCOUNT_BYTES, account_from, readable_accounts

_ResultT = TypeVar("_ResultT")

_OVERLAP_MS = 60_000
"""How far back a reader looks again: more than clocks differ and the index lags."""
_THREADS = 4
"""More of them gain nothing and hold the event loop up (the client is bound by the interpreter lock)."""
_CONFLICTS = frozenset({"ConditionalCheckFailed", "TransactionConflict"})


class DynamoDBAccountStore:
    """Keeps accounts in a table, written on conditions."""

    def __init__(
        self,
        client: Any,
        table: str,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._table = table
        self._now = now
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="accounts-dynamodb")

    @classmethod
    async def open(
        cls,
        table: str,
        *,
        region: str,
        endpoint_url: str | None = None,
        credentials: Mapping[str, str] | None = None,
        create_table: bool = False,
    ) -> DynamoDBAccountStore:
        """Open the table; `credentials` are the client's own arguments, by default the usual chain.

        Raises:
            StoreUnavailable: The table cannot be reached or created.
        """
        new_client: Any = boto3.client

        def connect() -> Any:
            return new_client(
                "dynamodb",
                region_name=region,
                endpoint_url=endpoint_url,
                config=Config(connect_timeout=2, read_timeout=3, retries={"max_attempts": 3}),
                **dict(credentials or {}),
            )

        store = cls(await asyncio.to_thread(connect), table)
        if create_table:
            await store._run(store._create_table)
        return store

    async def close(self) -> None:
        """Close the client and its threads."""
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def changed_since(self, cursor: int) -> tuple[Sequence[Account], int]:
        """Return the accounts written since `cursor` and the next cursor."""

        def read() -> tuple[Sequence[Account], int]:
            bodies: list[str] = []
            latest = cursor
            for page in self._client.get_paginator("query").paginate(
                TableName=self._table,
                IndexName="changes",
                KeyConditionExpression="kind = :kind AND changed_at >= :since",
                ExpressionAttributeValues={
                    ":kind": {"S": "account"},
                    ":since": {"N": str(max(0, cursor - _OVERLAP_MS))},
                },
            ):
                for item in page["Items"]:
                    latest = max(latest, int(item["changed_at"]["N"]))
                    bodies.append(item["body"]["S"])
            return readable_accounts(bodies), latest

        return await self._run(read)

    async def read(self, account_id: str) -> Account | None:
        """Return the newest state of an account."""
        body = await self._run(lambda: self._item(account_id, "account"))
        return account_from(body) if body else None

    async def write(self, account: Account, entry: AuditEntry, prompt: PromptVersion | None = None) -> None:
        """Write an account, its audit entry and a new prompt version, all of it or nothing."""
        body = account.model_dump_json()
        if len(body.encode()) > MAX_ACCOUNT_BYTES:
            raise AccountRefused(f"the account would have {len(body)} bytes; at most {MAX_ACCOUNT_BYTES} fit")
        puts = [self._account_put(account, body), self._once(entry.account_id, _audit_key(entry), entry)]
        if prompt is not None:
            puts.append(self._once(prompt.account_id, _prompt_key(prompt.index, prompt.version), prompt))

        def write() -> None:
            try:
                self._client.transact_write_items(TransactItems=puts)
            except self._client.exceptions.TransactionCanceledException as error:
                reasons = {reason.get("Code") for reason in error.response.get("CancellationReasons", [])}
                if reasons & _CONFLICTS:
                    raise AccountConflict(account.account_id) from error
                raise

        await self._run(write)

    async def prompt_versions(self, account_id: str, index: str) -> Sequence[PromptVersion]:
        """Return the versions of an index's prompt, the newest first, at most 200."""
        bodies = await self._run(lambda: self._newest(account_id, f"prompt#{index}#", 200))
        return [PromptVersion.model_validate_json(body) for body in bodies]

    async def prompt_version(self, account_id: str, index: str, version: int) -> PromptVersion | None:
        """Return one version, or None."""
        body = await self._run(lambda: self._item(account_id, _prompt_key(index, version)))
        return PromptVersion.model_validate_json(body) if body else None

    async def audit(self, account_id: str, limit: int) -> Sequence[AuditEntry]:
        """Return the newest audit entries, the newest first."""
        bodies = await self._run(lambda: self._newest(account_id, "audit#", limit))
        return [AuditEntry.model_validate_json(body) for body in bodies]

    def _account_put(self, account: Account, body: str) -> Any:
        put: dict[str, Any] = {
            "TableName": self._table,
            "Item": {
                "pk": {"S": f"account#{account.account_id}"},
                "sk": {"S": "account"},
                "kind": {"S": "account"},
                "version": {"N": str(account.version)},
                "changed_at": {"N": str(int(self._now() * 1000))},
                "body": {"S": body},
            },
        }
        if account.version == 1:
            put["ConditionExpression"] = "attribute_not_exists(pk)"
        else:
            put["ConditionExpression"] = "version = :known"
            put["ExpressionAttributeValues"] = {":known": {"N": str(account.version - 1)}}
        return {"Put": put}

    def _once(self, account_id: str, sort_key: str, value: AuditEntry | PromptVersion) -> Any:
        item = {"pk": f"account#{account_id}", "sk": sort_key, "body": value.model_dump_json()}
        return {
            "Put": {
                "TableName": self._table,
                "Item": {name: {"S": text} for name, text in item.items()},
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    def _item(self, account_id: str, sort_key: str) -> str | None:
        answer = self._client.get_item(
            TableName=self._table,
            Key={"pk": {"S": f"account#{account_id}"}, "sk": {"S": sort_key}},
            ConsistentRead=True,
        )
        body: str | None = answer.get("Item", {}).get("body", {}).get("S")
        return body

    def _newest(self, account_id: str, prefix: str, limit: int) -> list[str]:
        bodies: list[str] = []
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": {"S": f"account#{account_id}"}, ":prefix": {"S": prefix}},
            ScanIndexForward=False,
            ConsistentRead=True,
            PaginationConfig={"MaxItems": limit},
        )
        for page in pages:
            bodies += [item["body"]["S"] for item in page["Items"]]
        return bodies

    def _create_table(self) -> None:
        strings = ("pk", "sk", "kind")
        try:
            self._client.create_table(
                TableName=self._table,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[
                    *({"AttributeName": name, "AttributeType": "S"} for name in strings),
                    {"AttributeName": "changed_at", "AttributeType": "N"},
                ],
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
                GlobalSecondaryIndexes=[
                    {
                        "IndexName": "changes",
                        "KeySchema": [
                            {"AttributeName": "kind", "KeyType": "HASH"},
                            {"AttributeName": "changed_at", "KeyType": "RANGE"},
                        ],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                ],
            )
        except self._client.exceptions.ResourceInUseException:
            return
        self._client.get_waiter("table_exists").wait(
            TableName=self._table, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )

    async def _run(self, work: Callable[[], _ResultT]) -> _ResultT:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(f"the accounts table {self._table!r} cannot be used: {error}") from error


def _prompt_key(index: str, version: int) -> str:
    return f"prompt#{index}#{version:010}"


def _audit_key(entry: AuditEntry) -> str:
    return f"audit#{entry.version:012}"
