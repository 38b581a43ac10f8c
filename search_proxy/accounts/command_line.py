"""What the account commands share: their services, their author, and how a refusal is shown."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import orjson

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.errors import AccountError, AccountRefused
from search_proxy.accounts.prompt_preview import PromptPreviewer
from search_proxy.accounts.settings_schema import SettingsRefused
from search_proxy.binding import SearchBinding
from search_proxy.errors import SearchError

Run = Callable[[argparse.Namespace, "AccountServices"], Awaitable[int]]
Commands = Any
"""`argparse`'s sub-parsers, whose class has no public name."""

_MOST_BYTES = 1024 * 1024


class AccountServices(Protocol):
    """What the account commands need of the process."""

    @property
    def office(self) -> AccountOffice:
        """The accounts and the desks that change them."""
        ...

    @property
    def search(self) -> SearchBinding:
        """The product side, for the names of an index's fields."""
        ...

    @property
    def previewer(self) -> PromptPreviewer | None:
        """Runs preview queries, where the process has a planner."""
        ...


def add_command(
    commands: Commands, name: str, run: Run, summary: str, *arguments: str
) -> argparse.ArgumentParser:
    """Return a new sub-command with positional `arguments`; its refusals end with status 1."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    for argument in arguments:
        parser.add_argument(argument, metavar=argument.upper())
    parser.set_defaults(run=_told(run))
    return parser


def author() -> str:
    """Return who the audit log names for a command."""
    try:
        return f"cli {getpass.getuser()}"
    except (OSError, KeyError):
        return "cli"


def say(text: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(f"{text}\n")


def say_json(value: Any) -> None:
    """Write a value as indented JSON."""
    say(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode())


def read_bytes(path: str) -> bytes:
    """Return the file's content, or standard input for `-`.

    Raises:
        AccountRefused: It cannot be read or is too long.
    """
    try:
        data = sys.stdin.buffer.read(_MOST_BYTES + 1) if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise AccountRefused(f"{path!r} cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise AccountRefused(f"{path!r} is too long; at most {_MOST_BYTES} bytes are read")
    return data


def write_bytes(path: str, data: bytes) -> None:
    """Write a file.

    Raises:
        AccountRefused: It cannot be written.
    """
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise AccountRefused(f"{path!r} cannot be written: {error.strerror}") from error


def read_json_object(path: str) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        AccountRefused: It is not one.
    """
    try:
        value = orjson.loads(read_bytes(path))
    except orjson.JSONDecodeError as error:
        raise AccountRefused(f"{path!r} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise AccountRefused(f"{path!r} holds a JSON {type(value).__name__}; it takes an object")
    return value


def _told(run: Run) -> Run:
    async def told(args: argparse.Namespace, services: AccountServices) -> int:
        try:
            return await run(args, services)
        except (AccountError, SettingsRefused, SearchError, ValueError) as error:
            sys.stderr.write(f"aisle: {error}\n")
            return 1

    return told
