"""The account's index: that it exists, what it holds, and which features are switched on for it."""

from __future__ import annotations

from collections.abc import Sequence

from search_proxy.errors import IndexNotFound, SearchError
from worker.doctor.examination import Examined
from worker.doctor.findings import Finding


async def look_at_index(examined: Examined) -> Sequence[Finding]:
    """Return whether the index is there and searched by all its lanes."""
    services, account = examined.services, examined.caller.account_id
    known = await services.backend.list_indexes(account)
    if examined.index is None:
        return [
            Finding(
                part="index",
                level="ok" if known else "fail",
                looked_at=f"the indexes of account {account!r}",
                found=", ".join(known) or "none",
                advice="" if known else f"aisle catalog load NAME FILE --account {account}",
            )
        ]
    looked_at = f"index {examined.index!r} of account {account!r}"
    try:
        seen = await services.search.describe_index(examined.caller, examined.index)
    except IndexNotFound:
        return [
            Finding(
                part="index",
                level="fail",
                looked_at=looked_at,
                found=f"it does not exist; there are {', '.join(known) or 'none'}",
                advice=f"aisle catalog load {examined.index} FILE --account {account}",
            )
        ]
    except SearchError as error:
        return [
            Finding(
                part="index",
                level="fail",
                looked_at=looked_at,
                found=str(error),
                advice="the message says what to do; the log has the rest",
            )
        ]
    behind = "vector" in seen.lanes and seen.embedded_documents < seen.documents
    found = f"{seen.documents:,} documents, searched by {' and '.join(seen.lanes)}"
    if behind:
        found += f"; {seen.documents - seen.embedded_documents:,} have no vector yet"
    return [
        Finding(
            part="index",
            level="fail" if not seen.documents else "note" if behind else "ok",
            looked_at=looked_at,
            found=found,
            advice=f"aisle catalog load {examined.index} FILE --account {account}"
            if not seen.documents
            else "vectors are computed in the background"
            if behind
            else "",
        )
    ]


async def look_at_features(examined: Examined) -> Sequence[Finding]:
    """Return which features are on."""
    if examined.index is None:
        return []
    account, index = examined.caller.account_id, examined.index
    snapshot = examined.services.accounts.snapshot(account, index)
    flags = snapshot.settings.feature_flags
    findings = []
    for name in ("agentic_search", "converse"):
        is_on = getattr(flags, name)
        findings.append(
            Finding(
                part=name.replace("_", " "),
                level="ok" if is_on else "fail",
                looked_at=f"feature_flags.{name} in settings version {snapshot.version}",
                found="on" if is_on else "off: its requests are answered with 400 feature_disabled",
                advice="" if is_on else f"aisle settings set {account} {index} feature_flags.{name}=true",
            )
        )
    return findings
