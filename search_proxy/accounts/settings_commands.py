"""`aisle settings`: show, set, export and import the settings of an index, or with `*` of the account."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import orjson

from search_proxy.accounts.account_file import exported, imported, read_file
from search_proxy.accounts.administration import check_scope
from search_proxy.accounts.command_line import (
    AccountServices,
    Commands,
    add_command,
    author,
    read_bytes,
    say,
    say_json,
    write_bytes,
)
from search_proxy.accounts.errors import AccountRefused
from search_proxy.accounts.settings_schema import IndexSettings
from search_proxy.accounts.views import settings_view


def register(subparsers: Commands) -> None:
    """Add `settings` to the command line."""
    settings = subparsers.add_parser("settings", help="settings of an account and its indexes")
    commands = settings.add_subparsers(required=True, metavar="COMMAND")
    add_command(
        commands, "get", _get, "show the settings in use and where they come from", "account", "index"
    )
    change = add_command(
        commands, "set", _set, "set fields, such as agentic_config.max_categories=4", "account", "index"
    )
    change.add_argument("fields", nargs="+", metavar="FIELD=VALUE", help="the value is JSON, or else text")
    unset = add_command(
        commands, "unset", _unset, "return fields to what holds without them", "account", "index"
    )
    unset.add_argument("fields", nargs="+", metavar="FIELD")
    export = add_command(commands, "export", _export, "write settings and prompts to a file", "account")
    export.add_argument("--output", default="-", help="the file (default: standard output)")
    add_command(commands, "import", _import, "make the account what a file says", "account", "file")
    add_command(commands, "schema", _schema, "show the JSON Schema of the settings")


async def _get(args: argparse.Namespace, services: AccountServices) -> int:
    check_scope(args.index)
    account = await services.office.administration.account(args.account)
    say_json(settings_view(account, args.index))
    return 0


async def _set(args: argparse.Namespace, services: AccountServices) -> int:
    values: dict[str, Any] = {}
    for assignment in args.fields:
        field, separator, text = assignment.partition("=")
        if not separator:
            raise AccountRefused(f"{assignment!r} is not FIELD=VALUE")
        _put(values, field, _value(text))
    account = await services.office.administration.set_settings(
        args.account, args.index, values, actor=author()
    )
    say(f"settings version {account.settings_version}")
    return 0


async def _unset(args: argparse.Namespace, services: AccountServices) -> int:
    office = services.office
    account = await office.administration.account(args.account)
    own = orjson.loads(orjson.dumps(account.settings.get(args.index, {})))
    for field in args.fields:
        _remove(own, field)
    changed = await office.administration.set_settings(
        args.account,
        args.index,
        own,
        actor=author(),
        merge=False,
        if_version=account.settings_version,
    )
    say(f"settings version {changed.settings_version}")
    return 0


async def _export(args: argparse.Namespace, services: AccountServices) -> int:
    data = exported(await services.office.administration.account(args.account))
    if args.output == "-":
        sys.stdout.write(data.decode())
    else:
        write_bytes(args.output, data)
        say(f"written to {args.output}")
    return 0


async def _import(args: argparse.Namespace, services: AccountServices) -> int:
    office = services.office
    before = await office.administration.account(args.account)
    file = read_file(read_bytes(args.file))
    after = await imported(
        office.administration,
        office.prompts,
        args.account,
        file,
        actor=author(),
        note=f"import of {Path(args.file).name}",
    )
    changed = after.version - before.version
    say(f"{changed} changes, settings version {after.settings_version}" if changed else "nothing to change")
    return 0


async def _schema(_: argparse.Namespace, __: AccountServices) -> int:
    say_json(IndexSettings.model_json_schema())
    return 0


def _value(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _put(values: dict[str, Any], field: str, value: Any) -> None:
    *sections, name = field.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise AccountRefused(f"{field!r} goes through a field that is set to a value")
    values[name] = value


def _remove(values: dict[str, Any], field: str) -> None:
    *sections, name = field.split(".")
    inner: Any = values
    for section in sections:
        inner = inner.get(section) if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or name not in inner:
        raise AccountRefused(f"{field!r} is not set here")
    del inner[name]
