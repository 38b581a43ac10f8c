"""`aisle account`: accounts and keys from the command line. Twins of the admin API, over the same desks."""

from __future__ import annotations

import argparse
import time
from typing import Any

from search_proxy.accounts import prompt_commands, settings_commands
from search_proxy.accounts.administration import checked_account
from search_proxy.accounts.command_line import (
    AccountServices,
    Commands,
    add_command,
    author,
    say,
    say_json,
)
from search_proxy.accounts.derived_keys import DerivedClaims
from search_proxy.accounts.views import account_view, audit_view

_DAY_SECONDS = 86_400


def register(subparsers: Commands) -> None:
    """Add `account`, `settings` and `prompt` to the command line."""
    account = subparsers.add_parser("account", help="accounts and their keys")
    commands = account.add_subparsers(required=True, metavar="COMMAND")
    create = add_command(commands, "create", _create, "create an account and its first secret key", "account")
    create.add_argument("--name", default="", help="a name for people")
    add_command(commands, "list", _list, "list accounts")
    add_command(commands, "show", _show, "show an account, its keys and what is in use", "account")
    audit = add_command(commands, "audit", _audit, "show the newest changes", "account")
    audit.add_argument("--limit", type=int, default=20)
    public = add_command(
        commands, "public", _public, "set whether x-marqo-index-id alone may read", "account"
    )
    public.add_argument("state", choices=("on", "off"))
    _rights_options(public)
    _register_keys(commands)
    settings_commands.register(subparsers)
    prompt_commands.register(subparsers)


def _register_keys(commands: Commands) -> None:
    key = commands.add_parser("key", help="create, rotate, revoke and derive keys")
    keys = key.add_subparsers(required=True, metavar="COMMAND")
    create = add_command(keys, "create", _key_create, "create a key; it is shown once", "account")
    create.add_argument("--kind", choices=("publishable", "secret"), default="publishable")
    create.add_argument("--label", default="")
    create.add_argument("--operator", action="store_true", help="may create accounts over the API")
    _rights_options(create)
    add_command(keys, "revoke", _key_revoke, "revoke a key at once", "account", "key_id")
    rotate = add_command(keys, "rotate", _key_rotate, "replace a key by a new one", "account", "key_id")
    rotate.add_argument(
        "--overlap-seconds",
        type=float,
        default=_DAY_SECONDS,
        help="how long the old key goes on (default: a day)",
    )
    derive = add_command(
        keys,
        "derive",
        _key_derive,
        "sign a narrower key for one shopper with a secret key",
        "account",
        "key_id",
    )
    derive.add_argument("--expires-in-seconds", type=float, default=3_600)
    derive.add_argument("--filter", help="a filter that is always applied")
    derive.add_argument("--group", action="append", default=[], help="a customer group (repeatable)")
    derive.add_argument("--index", action="append", help="an index it may search (repeatable; default: all)")
    derive.add_argument("--origin", action="append", help="an origin it works from (repeatable)")


def _rights_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--origin", action="append", default=[], help="a web origin it works from (repeatable)"
    )
    parser.add_argument("--index", action="append", help="an index it may use (repeatable; default: all)")
    parser.add_argument("--filter", help="a filter that is always applied")
    parser.add_argument("--per-minute", type=int, help="requests per minute, all addresses together")
    parser.add_argument("--per-minute-per-address", type=int, help="requests per minute from one address")
    parser.add_argument("--expires-in-days", type=float, help="when it ends by itself")


def _rights(args: argparse.Namespace) -> dict[str, Any]:
    expires = args.expires_in_days
    values = {
        "allowed_origins": args.origin,
        "indexes": args.index,
        "forced_filter": args.filter,
        "requests_per_minute": args.per_minute,
        "requests_per_minute_per_address": args.per_minute_per_address,
        "expires_at": None if expires is None else time.time() + expires * _DAY_SECONDS,
    }
    return {name: value for name, value in values.items() if value is not None}


async def _create(args: argparse.Namespace, services: AccountServices) -> int:
    office = services.office
    account = await office.administration.create_account(args.account, name=args.name, actor=author())
    new = await office.keys.create(account.account_id, "secret", {}, label="first", actor=author())
    say(f"account {account.account_id} created")
    say(f"secret key, shown this once: {new.token}")
    return 0


async def _list(_: argparse.Namespace, services: AccountServices) -> int:
    for account in await services.office.administration.accounts():
        say(f"{account.account_id}\t{account.name}")
    return 0


async def _show(args: argparse.Namespace, services: AccountServices) -> int:
    say_json(account_view(await services.office.administration.account(args.account)))
    return 0


async def _audit(args: argparse.Namespace, services: AccountServices) -> int:
    for entry in await services.office.administration.audit(args.account, limit=args.limit):
        say_json(audit_view(entry))
    return 0


async def _public(args: argparse.Namespace, services: AccountServices) -> int:
    values = {"enabled": args.state == "on", "rights": _rights(args)}
    account = await services.office.administration.set_public_access(args.account, values, actor=author())
    say_json(account.public_access.model_dump(mode="json"))
    return 0


async def _key_create(args: argparse.Namespace, services: AccountServices) -> int:
    rights = _rights(args) | ({"operator": True} if args.operator else {})
    new = await services.office.keys.create(args.account, args.kind, rights, label=args.label, actor=author())
    say(f"{args.kind} key {new.record.key_id}, shown this once: {new.token}")
    return 0


async def _key_revoke(args: argparse.Namespace, services: AccountServices) -> int:
    await services.office.keys.revoke(args.account, args.key_id, actor=author())
    say(f"key {args.key_id} revoked")
    return 0


async def _key_rotate(args: argparse.Namespace, services: AccountServices) -> int:
    new = await services.office.keys.rotate(
        args.account, args.key_id, overlap_seconds=args.overlap_seconds, actor=author()
    )
    say(f"key {new.record.key_id}, shown this once: {new.token}")
    say(f"key {args.key_id} ends in {args.overlap_seconds:g} s")
    return 0


async def _key_derive(args: argparse.Namespace, services: AccountServices) -> int:
    values = {
        "expires": time.time() + args.expires_in_seconds,
        "filter": args.filter,
        "groups": args.group,
        "indexes": args.index,
        "origins": args.origin,
    }
    claims = checked_account(
        DerivedClaims, {name: value for name, value in values.items() if value is not None}
    )
    say(await services.office.keys.derive(args.account, args.key_id, claims))
    return 0
