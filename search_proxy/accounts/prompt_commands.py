"""`aisle prompt`: write, compare, check, preview, publish and roll back an index's prompt."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from search_proxy.accounts.account import EVERY_INDEX
from search_proxy.accounts.administration import checked_account
from search_proxy.accounts.command_line import (
    AccountServices,
    Commands,
    add_command,
    author,
    read_bytes,
    read_json_object,
    say,
    say_json,
)
from search_proxy.accounts.errors import AccountRefused
from search_proxy.accounts.preview_text import preview_text
from search_proxy.accounts.prompt_lint import Finding, has_errors, lint_prompt
from search_proxy.accounts.prompt_preview import checked_queries, compare_prompts
from search_proxy.accounts.prompt_slots import LivePrompts, PromptInUse, PromptSlots
from search_proxy.accounts.views import prompt_view
from search_proxy.caller import Caller
from search_proxy.errors import IndexNotFound


def register(subparsers: Commands) -> None:
    """Add `prompt` to the command line."""
    prompt = subparsers.add_parser("prompt", help="prompt versions of an index, or of * for the account")
    commands = prompt.add_subparsers(required=True, metavar="COMMAND")
    new = add_command(
        commands, "new", _new, "write a new version from a JSON file", "account", "index", "file"
    )
    new.add_argument("--note", default="", help="what the version is for")
    add_command(commands, "list", _list, "list versions and what is in use", "account", "index")
    add_command(commands, "show", _show, "show a version", "account", "index", "version")
    diff = add_command(
        commands, "diff", _diff, "compare with the published one", "account", "index", "version"
    )
    diff.add_argument("--since", type=int, help="compare with this version instead")
    lint = add_command(commands, "lint", _lint, "check a version or a file", "account", "index")
    lint.add_argument("draft", metavar="VERSION|FILE")
    publish = add_command(commands, "publish", _publish, "put into use", "account", "index", "version")
    publish.add_argument("--percentage", type=float, help="for this part of the sessions only")
    rollback = add_command(
        commands,
        "rollback",
        _roll_back,
        "stop a rollout, or return to the version before",
        "account",
        "index",
    )
    rollback.add_argument("--version", type=int, help="return to this version")
    preview = add_command(
        commands,
        "preview",
        _preview,
        "run queries with a draft beside the published prompt",
        "account",
        "index",
    )
    preview.add_argument("draft", metavar="VERSION|FILE")
    preview.add_argument("--queries", required=True, metavar="FILE", help="one query per line, at most 20")
    preview.add_argument("--json", action="store_true", help="the whole answers as JSON")


async def _new(args: argparse.Namespace, services: AccountServices) -> int:
    version = await services.office.prompts.new(
        args.account, args.index, read_json_object(args.file), note=args.note, actor=author()
    )
    say(f"version {version.version} written; it is not in use before it is published")
    _say_findings(lint_prompt(version.slots, await _known_fields(args, services)))
    return 0


async def _list(args: argparse.Namespace, services: AccountServices) -> int:
    prompts = services.office.prompts
    live = await prompts.live(args.account, args.index)
    for version in await prompts.versions(args.account, args.index):
        say(f"{version.version}\t{_state(live, version.version)}\t{version.author}\t{version.note}")
    return 0


async def _show(args: argparse.Namespace, services: AccountServices) -> int:
    version = await services.office.prompts.version(args.account, args.index, _number(args.version))
    say_json(prompt_view(version))
    return 0


async def _diff(args: argparse.Namespace, services: AccountServices) -> int:
    text = await services.office.prompts.diff(args.account, args.index, args.since, _number(args.version))
    say(text or "no difference")
    return 0


async def _lint(args: argparse.Namespace, services: AccountServices) -> int:
    slots, _ = await _draft(args, services)
    findings = lint_prompt(slots, await _known_fields(args, services))
    _say_findings(findings)
    if not findings:
        say("nothing to remark")
    return 1 if has_errors(findings) else 0


async def _publish(args: argparse.Namespace, services: AccountServices) -> int:
    live = await services.office.prompts.publish(
        args.account, args.index, _number(args.version), percentage=args.percentage, actor=author()
    )
    say(_in_use(live))
    return 0


async def _roll_back(args: argparse.Namespace, services: AccountServices) -> int:
    live = await services.office.prompts.roll_back(
        args.account, args.index, version=args.version, actor=author()
    )
    say(_in_use(live))
    return 0


async def _preview(args: argparse.Namespace, services: AccountServices) -> int:
    if services.previewer is None:
        raise AccountRefused("this process has no preview")
    if args.index == EVERY_INDEX:
        raise AccountRefused("a preview needs an index to search, not '*'")
    queries = checked_queries(read_bytes(args.queries).decode(errors="replace").splitlines())
    slots, version = await _draft(args, services)
    published = (await services.office.prompts.live(args.account, args.index)).for_session("", None)
    compared = await compare_prompts(
        services.previewer,
        Caller(account_id=args.account, key_kind="secret"),
        args.index,
        queries,
        draft=PromptInUse(version=version, slots=slots),
        published=published,
        settings=services.office.directory.snapshot(args.account, args.index).settings,
    )
    if args.json:
        say_json([comparison.as_json() for comparison in compared])
    else:
        say(preview_text(compared))
    return 0


async def _draft(args: argparse.Namespace, services: AccountServices) -> tuple[PromptSlots, int]:
    if args.draft.isdigit():
        version = await services.office.prompts.version(args.account, args.index, int(args.draft))
        return version.slots, version.version
    return checked_account(PromptSlots, read_json_object(args.draft)), 0


async def _known_fields(args: argparse.Namespace, services: AccountServices) -> Collection[str] | None:
    if args.index == EVERY_INDEX:
        return None
    caller = Caller(account_id=args.account, key_kind="secret")
    try:
        description = await services.search.describe_index(caller, args.index)
    except IndexNotFound:
        return None
    return [field.name for field in description.fields] or None


def _say_findings(findings: Collection[Finding]) -> None:
    for finding in findings:
        say(f"{finding.severity}: {finding.slot} {finding.message}")


def _state(live: LivePrompts, version: int) -> str:
    if live.published is not None and live.published.version == version:
        return "published"
    if live.rollout is not None and live.rollout.prompt.version == version:
        return f"{live.rollout.percentage:g} % of sessions"
    return ""


def _in_use(live: LivePrompts) -> str:
    published = f"version {live.published.version}" if live.published is not None else "the base prompt"
    if live.rollout is None:
        return f"in use: {published}"
    rollout = live.rollout
    return f"in use: {published}; version {rollout.prompt.version} for {rollout.percentage:g} % of sessions"


def _number(text: str) -> int:
    if not text.isdigit():
        raise AccountRefused(f"version is {text!r}; it takes a number")
    return int(text)
