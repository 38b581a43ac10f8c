"""What of an account is shown to its owner: never a hash, never a signing key."""

from __future__ import annotations

from typing import Any

from search_proxy.accounts.account import EVERY_INDEX, Account, KeyRecord
from search_proxy.accounts.history import AuditEntry, PromptVersion
from search_proxy.accounts.key_desk import NewKey
from search_proxy.accounts.prompt_lint import Finding
from search_proxy.accounts.prompt_slots import LivePrompts
from search_proxy.accounts.prompt_text import estimated_tokens, rendered_slots
from search_proxy.accounts.settings_schema import merged_settings, readable_settings


def account_view(account: Account) -> dict[str, Any]:
    """Return an account with its keys' rights and the prompt versions in use."""
    return {
        "account_id": account.account_id,
        "name": account.name,
        "created_at": account.created_at,
        "version": account.version,
        "settings_version": account.settings_version,
        "public_access": account.public_access.model_dump(mode="json"),
        "keys": [key_view(key) for key in account.keys],
        "settings": account.settings,
        "prompts": {index: live_view(live) for index, live in account.prompts.items()},
    }


def key_view(key: KeyRecord) -> dict[str, Any]:
    """Return a key without what recognises it."""
    return key.model_dump(mode="json", exclude={"secret_hash", "signing_key"})


def new_key_view(new: NewKey) -> dict[str, Any]:
    """Return a key just made, with its token, this once."""
    return {**key_view(new.record), "key": new.token}


def settings_view(account: Account, index: str) -> dict[str, Any]:
    """Return an index's own settings, the account's, and what follows from both, with the version."""
    account_wide = account.settings.get(EVERY_INDEX, {})
    own = account.settings.get(index, {})
    return {
        "index": index,
        "version": account.settings_version,
        "own": own,
        "account": account_wide,
        "effective": readable_settings(merged_settings(account_wide, own)).model_dump(mode="json"),
    }


def live_view(live: LivePrompts) -> dict[str, Any]:
    """Return the versions in use."""
    return {
        "published": live.published.version if live.published is not None else None,
        "rollout": None
        if live.rollout is None
        else {"version": live.rollout.prompt.version, "percentage": live.rollout.percentage},
    }


def prompt_view(version: PromptVersion) -> dict[str, Any]:
    """Return a prompt version and about how many tokens the merchant's part costs."""
    return {
        **version.model_dump(mode="json", exclude={"account_id"}),
        "estimated_tokens": estimated_tokens(rendered_slots(version.slots)),
    }


def finding_view(finding: Finding) -> dict[str, Any]:
    """Return `{"slot", "severity", "message"}`."""
    return {"slot": finding.slot, "severity": finding.severity, "message": finding.message}


def audit_view(entry: AuditEntry) -> dict[str, Any]:
    """Return one change: who did what, when, to which version of the account."""
    return entry.model_dump(mode="json", exclude={"account_id"})
