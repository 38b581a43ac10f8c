"""Prompt versions: written once, published, rolled out to a part of the sessions, rolled back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from search_proxy.accounts.account import EVERY_INDEX, Account
from search_proxy.accounts.administration import AccountAdministration, check_scope, checked_account
from search_proxy.accounts.errors import AccountRefused, PromptNotFound
from search_proxy.accounts.history import PromptVersion
from search_proxy.accounts.prompt_lint import has_errors, lint_prompt
from search_proxy.accounts.prompt_slots import LivePrompts, PromptSlots, PublishedPrompt, Rollout
from search_proxy.accounts.prompt_text import prompt_diff
from search_proxy.accounts.store import AccountStore


class PromptDesk:
    """Writes and publishes the prompts of an index, or with `*` those of the whole account."""

    def __init__(self, administration: AccountAdministration, store: AccountStore) -> None:
        self._administration = administration
        self._store = store

    async def new(
        self, account_id: str, index: str, slots: Mapping[str, Any] | PromptSlots, *, note: str, actor: str
    ) -> PromptVersion:
        """Write a new version; it is not in use before it is published.

        Raises:
            AccountRefused: A slot cannot be used; the message names it.
        """
        check_scope(index)
        checked: PromptSlots = (
            slots if isinstance(slots, PromptSlots) else checked_account(PromptSlots, slots)
        )

        def counted(account: Account) -> Account:
            number = account.prompt_versions.get(index, 0) + 1
            return account.model_copy(update={"prompt_versions": account.prompt_versions | {index: number}})

        def version(account: Account) -> PromptVersion:
            values = {
                "account_id": account_id,
                "index": index,
                "version": account.prompt_versions[index],
                "slots": checked,
                "author": actor,
                "note": note,
                "created_at": self._administration.now(),
            }
            made: PromptVersion = checked_account(PromptVersion, values)
            return made

        account = await self._administration.change(
            account_id,
            counted,
            actor=actor,
            action="prompt.new",
            target=index,
            detail={"note": note},
            prompt=version,
        )
        return await self.version(account_id, index, account.prompt_versions[index])

    async def version(self, account_id: str, index: str, version: int) -> PromptVersion:
        """Return one version.

        Raises:
            PromptNotFound: There is none of that number.
        """
        found = await self._store.prompt_version(account_id, index, version)
        if found is None:
            raise PromptNotFound(index, version)
        return found

    async def versions(self, account_id: str, index: str) -> Sequence[PromptVersion]:
        """Return the versions, the newest first."""
        return await self._store.prompt_versions(account_id, index)

    async def live(self, account_id: str, index: str) -> LivePrompts:
        """Return what is in use for an index: its own prompts, else the account's."""
        account = await self._administration.account(account_id)
        return account.prompts.get(index) or account.prompts.get(EVERY_INDEX) or LivePrompts()

    async def diff(self, account_id: str, index: str, before: int | None, after: int) -> str:
        """Return a unified diff; without `before`, against what is published."""
        newer = await self.version(account_id, index, after)
        if before is not None:
            older = await self.version(account_id, index, before)
            return prompt_diff(older.slots, newer.slots, (f"version {before}", f"version {after}"))
        published = (await self.live(account_id, index)).published
        slots = published.slots if published is not None else PromptSlots()
        name = f"version {published.version} (published)" if published is not None else "no prompt"
        return prompt_diff(slots, newer.slots, (name, f"version {after}"))

    async def publish(
        self,
        account_id: str,
        index: str,
        version: int,
        *,
        actor: str,
        percentage: float | None = None,
        known_fields: Collection[str] | None = None,
        action: str = "prompt.publish",
    ) -> LivePrompts:
        """Put a version into use, for all sessions or, with `percentage`, for a part of them.

        Raises:
            PromptNotFound: There is no such version.
            AccountRefused: The lint finds an error, or the percentage is out of range.
        """
        chosen = await self.version(account_id, index, version)
        findings = lint_prompt(chosen.slots, known_fields)
        if has_errors(findings):
            shown = "; ".join(f"{one.slot} {one.message}" for one in findings if one.severity == "error")
            raise AccountRefused(f"version {version} cannot be published: {shown}")
        prompt = PublishedPrompt(version=version, slots=chosen.slots)
        rollout = (
            None
            if percentage is None
            else checked_account(Rollout, {"prompt": prompt, "percentage": percentage})
        )

        def change(account: Account) -> Account:
            known = account.prompts.get(index, LivePrompts())
            live = (
                LivePrompts(published=prompt)
                if rollout is None
                else LivePrompts(published=known.published, rollout=rollout)
            )
            return _with_live(account, index, live)

        account = await self._administration.change(
            account_id,
            change,
            actor=actor,
            action=action,
            target=index,
            detail={"version": version, "percentage": percentage},
        )
        return account.prompts[index]

    async def roll_back(
        self, account_id: str, index: str, *, actor: str, version: int | None = None
    ) -> LivePrompts:
        """Return to an earlier version: the given one, else the one published before the present one.

        A rollout under way is stopped first: without `version`, that alone is the rollback.

        Raises:
            PromptNotFound: Nothing was published before.
        """
        account = await self._administration.account(account_id)
        live = account.prompts.get(index, LivePrompts())
        if version is None and live.rollout is not None:
            changed = await self._administration.change(
                account_id,
                lambda known: _with_live(
                    known, index, known.prompts.get(index, LivePrompts()).model_copy(update={"rollout": None})
                ),
                actor=actor,
                action="prompt.rollback",
                target=index,
                detail={"stopped_rollout": live.rollout.prompt.version},
            )
            return changed.prompts.get(index, LivePrompts())
        wanted = version if version is not None else await self._published_before(account_id, index, live)
        return await self.publish(account_id, index, wanted, actor=actor, action="prompt.rollback")

    async def unpublish(self, account_id: str, index: str, *, actor: str) -> None:
        """Return to the plain base prompt (or, for an index, to the account's own)."""
        await self._administration.change(
            account_id,
            lambda account: _with_live(account, index, LivePrompts()),
            actor=actor,
            action="prompt.unpublish",
            target=index,
        )

    async def _published_before(self, account_id: str, index: str, live: LivePrompts) -> int:
        present = live.published.version if live.published is not None else None
        for entry in await self._administration.audit(account_id, limit=1_000):
            published = entry.action in {"prompt.publish", "prompt.rollback"} and entry.target == index
            version = entry.detail.get("version")
            if published and entry.detail.get("percentage") is None and version not in (None, present):
                return int(version)
        raise PromptNotFound(index, "published before")


def _with_live(account: Account, index: str, live: LivePrompts) -> Account:
    kept = {name: prompts for name, prompts in account.prompts.items() if name != index}
    if live != LivePrompts():
        kept[index] = live
    return account.model_copy(update={"prompts": kept})
