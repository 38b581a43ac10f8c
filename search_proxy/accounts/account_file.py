"""An account's settings, public access and published prompts as one file, for those who keep them in git.

What an export writes, an import takes back without changing anything. Keys are not in it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from search_proxy.accounts.account import Account, PublicAccess
from search_proxy.accounts.administration import AccountAdministration, check_scope, with_settings
from search_proxy.accounts.errors import AccountRefused
from search_proxy.accounts.prompt_desk import PromptDesk
from search_proxy.accounts.prompt_lint import has_errors, lint_prompt
from search_proxy.accounts.prompt_slots import PromptSlots
from search_proxy.accounts.validation_messages import validation_message

MAX_FILE_BYTES = 1024 * 1024

_Scope = Annotated[str, Field(min_length=1, max_length=100)]


class AccountFile(BaseModel):
    """The file: settings and prompts by index, `*` for the whole account."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    account: str
    public_access: PublicAccess = PublicAccess()
    settings: dict[_Scope, dict[str, Any]] = Field(default_factory=dict)
    prompts: dict[_Scope, PromptSlots] = Field(default_factory=dict)


def exported(account: Account) -> bytes:
    """Return the file of an account, sorted and indented, so that a diff shows the change alone."""
    file = AccountFile(
        account=account.account_id,
        public_access=account.public_access,
        settings=account.settings,
        prompts={
            index: live.published.slots
            for index, live in account.prompts.items()
            if live.published is not None
        },
    )
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(file.model_dump(mode="json", exclude_defaults=False), option=options)


def read_file(data: bytes) -> AccountFile:
    """Return the file in `data`.

    Raises:
        AccountRefused: It is not one; the message names the field.
    """
    if len(data) > MAX_FILE_BYTES:
        raise AccountRefused(f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are read")
    try:
        file = AccountFile.model_validate(orjson.loads(data))
    except orjson.JSONDecodeError as error:
        raise AccountRefused(f"the file is not JSON: {error}") from error
    except ValidationError as error:
        raise AccountRefused(validation_message(error, AccountFile)) from error
    for index in (*file.settings, *file.prompts):
        check_scope(index)
    return file


async def imported(
    administration: AccountAdministration,
    prompts: PromptDesk,
    account_id: str,
    file: AccountFile,
    *,
    actor: str,
    note: str = "import",
) -> Account:
    """Make the account what the file says; what is equal already stays as it is.

    Settings and public access change in one step. A prompt that differs from the published one becomes a new
    version and is published; every prompt is checked before the first change.

    Raises:
        AccountRefused: The file is of another account, or a prompt cannot be published.
        SettingsRefused: A setting cannot be used.
    """
    if file.account != account_id:
        raise AccountRefused(f"the file is of account {file.account!r}, not of {account_id!r}")
    for index, slots in file.prompts.items():
        if has_errors(lint_prompt(slots)):
            first = lint_prompt(slots)[0]
            raise AccountRefused(f"prompts.{index}.{first.slot} {first.message}")

    def change(account: Account) -> Account:
        changed = account.model_copy(update={"public_access": file.public_access, "settings": {}})
        for index, values in file.settings.items():
            changed = with_settings(changed, index, values)
        same = changed.settings == account.settings
        version = account.settings_version if same else account.settings_version + 1
        return changed.model_copy(update={"settings_version": version})

    account = await administration.change(account_id, change, actor=actor, action="account.import")
    for index, slots in file.prompts.items():
        live = account.prompts.get(index)
        if live is None or live.published is None or live.published.slots != slots:
            version = await prompts.new(account_id, index, slots, note=note, actor=actor)
            await prompts.publish(account_id, index, version.version, actor=actor)
    for index in account.prompts.keys() - file.prompts.keys():
        await prompts.unpublish(account_id, index, actor=actor)
    return await administration.account(account_id)
