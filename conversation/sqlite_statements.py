"""What the SQLite storage does inside one transaction, as plain functions over a connection.

Each function decides and writes; the writer thread owns begin, savepoint and commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from conversation.errors import LeaseHeld, LeaseLost
from conversation.storage import BegunTurn, ClaimedAlarm, ConversationKey, ConversationSummary, StoredTurn


def begin_turn(
    connection: sqlite3.Connection,
    key: ConversationKey,
    token: str,
    now: float,
    lease_until: float,
    history: int,
    alarm_at: float,
) -> BegunTurn:
    """Take the lease, creating the conversation and its alarm where there is none."""
    found = connection.execute(
        "SELECT row, token, lease_until, fence FROM conversation"
        " WHERE account_id = ? AND conversation_id = ?",
        (key.account_id, key.conversation_id),
    ).fetchone()
    if found is None:
        created = connection.execute(
            "INSERT INTO conversation (account_id, conversation_id, created_at, used_at, fence, token,"
            " lease_until) VALUES (?, ?, ?, ?, 1, ?, ?)",
            (key.account_id, key.conversation_id, now, now, token, lease_until),
        )
        connection.execute(
            "INSERT INTO alarm (conversation, due_at) VALUES (?, ?)", (created.lastrowid, alarm_at)
        )
        return BegunTurn(fence=1, history=())
    row, holder, held_until, fence = found
    if holder is not None and holder != token and held_until > now:
        raise LeaseHeld(held_until)
    connection.execute(
        "UPDATE conversation SET fence = fence + 1, token = ?, lease_until = ?, used_at = ? WHERE row = ?",
        (token, lease_until, now, row),
    )
    return BegunTurn(fence=fence + 1, history=_last_turns(connection, row, history))


def commit_turn(
    connection: sqlite3.Connection,
    key: ConversationKey,
    token: str,
    body: bytes,
    now: float,
    keep: int,
    alarm_at: float,
) -> int:
    """Append, trim, push the alarm out and end the lease."""
    found = connection.execute(
        "SELECT row, token, committed_token, last_number FROM conversation"
        " WHERE account_id = ? AND conversation_id = ?",
        (key.account_id, key.conversation_id),
    ).fetchone()
    if found is None:
        raise LeaseLost("the conversation was deleted during the turn")
    row, holder, committed, last_number = found
    if committed == token:
        return int(last_number)
    if holder != token:
        raise LeaseLost("another turn of the conversation took over")
    number = int(last_number) + 1
    connection.execute(
        "INSERT INTO turn (conversation, number, created_at, body) VALUES (?, ?, ?, ?)",
        (row, number, now, body),
    )
    if number > keep:
        connection.execute("DELETE FROM turn WHERE conversation = ? AND number <= ?", (row, number - keep))
    connection.execute(
        "UPDATE conversation SET last_number = ?, token = NULL, lease_until = NULL, committed_token = ?,"
        " used_at = ?, updated_at = ? WHERE row = ?",
        (number, token, now, now, row),
    )
    connection.execute(
        "REPLACE INTO alarm (conversation, due_at, attempts) VALUES (?, ?, 0)", (row, alarm_at)
    )
    return number


def renew_turn(connection: sqlite3.Connection, key: ConversationKey, token: str, lease_until: float) -> bool:
    """Prolong the lease that the token holds, if it does."""
    renewed = connection.execute(
        "UPDATE conversation SET lease_until = ? WHERE account_id = ? AND conversation_id = ? AND token = ?",
        (lease_until, key.account_id, key.conversation_id, token),
    )
    return renewed.rowcount == 1


def release_turn(connection: sqlite3.Connection, key: ConversationKey, token: str) -> None:
    """End the lease that the token holds, if it does."""
    connection.execute(
        "UPDATE conversation SET token = NULL, lease_until = NULL"
        " WHERE account_id = ? AND conversation_id = ? AND token = ?",
        (key.account_id, key.conversation_id, token),
    )


def delete(connection: sqlite3.Connection, key: ConversationKey) -> bool:
    """Delete every row of the conversation."""
    found = connection.execute(
        "DELETE FROM conversation WHERE account_id = ? AND conversation_id = ? RETURNING row",
        (key.account_id, key.conversation_id),
    ).fetchone()
    if found is None:
        return False
    connection.execute("DELETE FROM turn WHERE conversation = ?", found)
    connection.execute("DELETE FROM alarm WHERE conversation = ?", found)
    return True


def delete_if_idle(connection: sqlite3.Connection, key: ConversationKey, idle_since: float) -> float | None:
    """Delete unless used after `idle_since`; return the last use where it stays."""
    found = connection.execute(
        "SELECT used_at FROM conversation WHERE account_id = ? AND conversation_id = ?",
        (key.account_id, key.conversation_id),
    ).fetchone()
    if found is not None and found[0] > idle_since:
        return float(found[0])
    delete(connection, key)
    return None


def claim_alarms(
    connection: sqlite3.Connection, now: float, claim_until: float, limit: int
) -> tuple[ClaimedAlarm, ...]:
    """Move due alarms to the end of their claim and return them; a claimer that dies lets them fire again."""
    due = connection.execute(
        "SELECT alarm.conversation, attempts, account_id, conversation_id FROM alarm"
        " JOIN conversation ON row = alarm.conversation WHERE due_at <= ? ORDER BY due_at LIMIT ?",
        (now, limit),
    ).fetchall()
    connection.executemany(
        "UPDATE alarm SET due_at = ?, attempts = attempts + 1 WHERE conversation = ?",
        [(claim_until, row) for row, *_ in due],
    )
    return tuple(
        ClaimedAlarm(
            key=ConversationKey(account_id=account_id, conversation_id=conversation_id),
            attempts=attempts + 1,
            claimed_until=claim_until,
        )
        for _, attempts, account_id, conversation_id in due
    )


def postpone_alarm(connection: sqlite3.Connection, alarm: ClaimedAlarm, due_at: float, attempts: int) -> None:
    """Set the alarm to `due_at`, unless a turn has set it since it was claimed."""
    connection.execute(
        "UPDATE alarm SET due_at = ?, attempts = ? WHERE due_at = ? AND conversation ="
        " (SELECT row FROM conversation WHERE account_id = ? AND conversation_id = ?)",
        (due_at, attempts, alarm.claimed_until, alarm.key.account_id, alarm.key.conversation_id),
    )


def shared_secret(connection: sqlite3.Connection, proposed: bytes) -> bytes:
    """Return the secret of the file, which is `proposed` where there was none."""
    connection.execute("INSERT OR IGNORE INTO shared (name, value) VALUES ('secret', ?)", (proposed,))
    return bytes(connection.execute("SELECT value FROM shared WHERE name = 'secret'").fetchone()[0])


def read(
    connection: sqlite3.Connection, key: ConversationKey
) -> tuple[ConversationSummary, tuple[StoredTurn, ...]] | None:
    """Return the conversation's line and all its kept turns."""
    found = connection.execute(
        "SELECT row, last_number, created_at, updated_at FROM conversation"
        " WHERE account_id = ? AND conversation_id = ? AND last_number > 0",
        (key.account_id, key.conversation_id),
    ).fetchone()
    if found is None:
        return None
    row, last_number, created_at, updated_at = found
    summary = ConversationSummary(
        conversation_id=key.conversation_id, turns=last_number, created_at=created_at, updated_at=updated_at
    )
    return summary, _last_turns(connection, row, -1)


def list_conversations(
    connection: sqlite3.Connection, account_id: str, limit: int, offset: int
) -> Sequence[ConversationSummary]:
    """Return a page of the account's conversations, last committed first."""
    rows = connection.execute(
        "SELECT conversation_id, last_number, created_at, updated_at FROM conversation"
        " WHERE account_id = ? AND updated_at IS NOT NULL"
        " ORDER BY updated_at DESC, conversation_id DESC LIMIT ? OFFSET ?",
        (account_id, limit, offset),
    )
    return tuple(
        ConversationSummary(
            conversation_id=conversation_id, turns=turns, created_at=created_at, updated_at=updated_at
        )
        for conversation_id, turns, created_at, updated_at in rows
    )


def _last_turns(connection: sqlite3.Connection, row: int, limit: int) -> tuple[StoredTurn, ...]:
    rows = connection.execute(
        "SELECT number, created_at, body FROM turn WHERE conversation = ? ORDER BY number DESC LIMIT ?",
        (row, limit),
    ).fetchall()
    return tuple(
        StoredTurn(number=number, created_at=created_at, body=body)
        for number, created_at, body in reversed(rows)
    )
