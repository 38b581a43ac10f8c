"""Where conversations are kept, and what became of one of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from conversation.errors import ConversationError, ConversationNotFound
from worker.doctor.examination import Examined
from worker.doctor.findings import Finding


async def look_at_conversations(examined: Examined) -> Sequence[Finding]:
    """Return whether conversations can be read, and the state of the one asked about."""
    services, account = examined.services, examined.caller.account_id
    place = "Redis" if services.settings.redis_url is not None else "SQLite under the data folder"
    looked_at = f"the conversations of account {account!r} ({place})"
    try:
        known = await services.conversations.list(account, limit=1)
    except ConversationError as error:
        return [
            Finding(
                part="conversations",
                level="fail",
                looked_at=looked_at,
                found=str(error),
                advice="answers stream without memory until it is back; receipts carry the warning",
            )
        ]
    newest = f"the last was used {_ago(known[0].updated_at)}" if known else "there is none yet"
    findings = [Finding(part="conversations", level="ok", looked_at=looked_at, found=newest)]
    if examined.conversation is not None:
        findings.append(await _one(examined, examined.conversation))
    return findings


async def _one(examined: Examined, conversation_id: str) -> Finding:
    looked_at = f"conversation {conversation_id[:64]!r}"
    try:
        found = await examined.services.conversations.read(examined.caller.account_id, conversation_id)
    except ConversationNotFound:
        return Finding(
            part="conversation",
            level="fail",
            looked_at=looked_at,
            found="this account has none of that id",
            advice="it was deleted after 30 idle days or by its owner, is another account's, or was never"
            " issued; the storefront should begin a new one",
        )
    summary = found.summary
    return Finding(
        part="conversation",
        level="ok",
        looked_at=looked_at,
        found=f"{summary.turns} turns, last used {_ago(summary.updated_at)}; deleted after 30 idle days",
    )


def _ago(then: float) -> str:
    seconds = max(0.0, time.time() - then)
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit} ago"
    return f"{seconds:.0f} s ago"
