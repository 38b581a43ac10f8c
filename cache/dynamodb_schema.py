"""The DynamoDB table of cached queries: its definition, and how it is made.

The index `by_scope` holds keys alone: a membership filter of a million queries is rebuilt from a few
dozen pages instead of gigabytes, and what was written lately is one small query.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cache.dynamodb_calls import TIER, DynamoTarget, open_client
from cache.errors import TierUnavailable

SCOPE_INDEX = "by_scope"
TTL_ATTRIBUTE = "expires_at"

_ATTEMPT_SECONDS = 30.0
"""Nobody's search waits for these calls."""


def table_name(environment: str) -> str:
    """Return the table's name in an environment. Source: flow document, step 3."""
    return f"{environment}-AgenticCachedQueriesTable"


def table_definition(name: str) -> dict[str, Any]:
    """Return the arguments of `CreateTable`; the same as deploy/dynamodb/cached-queries-table.json."""
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "scope", "AttributeType": "S"},
            {"AttributeName": "written_at_ms", "AttributeType": "N"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": SCOPE_INDEX,
                "KeySchema": [
                    {"AttributeName": "scope", "KeyType": "HASH"},
                    {"AttributeName": "written_at_ms", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }


def create_table(target: DynamoTarget) -> bool:
    """Create the table and switch its TTL on; return False where it was there. Blocks until it is active.

    Raises:
        TierUnavailable: DynamoDB is not reachable, or refuses.
    """
    client = open_client(target, attempt_seconds=_ATTEMPT_SECONDS)
    try:
        made = _create(client, target.table_name)
        client.get_waiter("table_exists").wait(
            TableName=target.table_name, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
        )
        ttl = client.describe_time_to_live(TableName=target.table_name)["TimeToLiveDescription"]
        if ttl.get("TimeToLiveStatus") not in ("ENABLED", "ENABLING"):
            client.update_time_to_live(
                TableName=target.table_name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE},
            )
        return made
    except (BotoCoreError, ClientError) as error:
        raise TierUnavailable(TIER, f"dynamodb could not make {target.table_name!r}: {error}") from error
    finally:
        client.close()


def _create(client: Any, name: str) -> bool:
    try:
        client.create_table(**table_definition(name))
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
            raise
        return False
    return True
