"""The admin API for prompts: write, compare, check, preview, publish, roll out, roll back."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.accounts.account import EVERY_INDEX
from search_proxy.accounts.admin_requests import (
    LintBody,
    NewPromptBody,
    PreviewBody,
    PublishBody,
    RollBackBody,
    read_body,
)
from search_proxy.accounts.administration import check_scope
from search_proxy.accounts.errors import AccountRefused
from search_proxy.accounts.prompt_lint import has_errors, lint_prompt
from search_proxy.accounts.prompt_preview import checked_queries, compare_prompts
from search_proxy.accounts.prompt_slots import PromptInUse, PromptSlots
from search_proxy.accounts.views import finding_view, live_view, prompt_view
from search_proxy.errors import IndexNotFound
from search_proxy.gateway_admin_access import Admin, AdminOf
from search_proxy.gateway_errors import Refusal, json_response


def prompt_routes() -> APIRouter:
    """Return the routes under `/api/v1/admin/prompts/{index}`; `*` is the account's own prompt."""
    router = APIRouter(prefix="/api/v1/admin/prompts/{index}", tags=["prompts"])
    for path, method, endpoint, summary in (
        ("", "GET", _list, "List versions and what is in use"),
        ("", "POST", _new, "Write a new version"),
        ("", "DELETE", _unpublish, "Return to the base prompt"),
        ("/diff", "GET", _diff, "Compare a version with another or with the published one"),
        ("/lint", "POST", _lint, "Check slots or a version"),
        ("/preview", "POST", _preview, "Run queries with a draft beside the published prompt"),
        ("/publish", "POST", _publish, "Publish a version, or roll it out to a percentage of sessions"),
        ("/rollback", "POST", _roll_back, "Stop a rollout, or return to the version before"),
        ("/{version}", "GET", _show, "Show a version"),
    ):
        router.add_api_route(path, endpoint, methods=[method], summary=summary)
    return router


async def _list(index: str, admin: AdminOf) -> Response:
    check_scope(index)
    live = await admin.office.prompts.live(admin.account_id, index)
    versions = await admin.office.prompts.versions(admin.account_id, index)
    return json_response({**live_view(live), "versions": [prompt_view(version) for version in versions]})


async def _new(index: str, request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, NewPromptBody)
    version = await admin.office.prompts.new(
        admin.account_id, index, body.slots, note=body.note, actor=admin.actor
    )
    findings = lint_prompt(body.slots, await _known_fields(admin, index))
    shown = {**prompt_view(version), "findings": [finding_view(finding) for finding in findings]}
    return json_response(shown, 201)


async def _unpublish(index: str, admin: AdminOf) -> Response:
    await admin.office.prompts.unpublish(admin.account_id, index, actor=admin.actor)
    return json_response(live_view(await admin.office.prompts.live(admin.account_id, index)))


async def _show(index: str, version: int, admin: AdminOf) -> Response:
    return json_response(prompt_view(await admin.office.prompts.version(admin.account_id, index, version)))


async def _diff(index: str, to: int, admin: AdminOf, since: int | None = None) -> Response:
    return json_response({"diff": await admin.office.prompts.diff(admin.account_id, index, since, to)})


async def _lint(index: str, request: Request, admin: AdminOf) -> Response:
    slots = await _slots(await read_body(request, LintBody), index, admin)
    findings = lint_prompt(slots, await _known_fields(admin, index))
    return json_response(
        {"publishable": not has_errors(findings), "findings": [finding_view(one) for one in findings]}
    )


async def _preview(index: str, request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, PreviewBody)
    if admin.edge.previewer is None:
        raise Refusal(404, "this server has no preview")
    if index == EVERY_INDEX:
        raise AccountRefused("a preview needs an index to search, not '*'")
    try:
        queries = checked_queries(body.queries)
    except ValueError as error:
        raise AccountRefused(str(error)) from error
    slots = await _slots(body, index, admin)
    published = (await admin.office.prompts.live(admin.account_id, index)).for_session("", None)
    compared = await compare_prompts(
        admin.edge.previewer,
        admin.caller,
        index,
        queries,
        draft=PromptInUse(version=body.version or 0, slots=slots),
        published=published,
        settings=admin.office.directory.snapshot(admin.account_id, index).settings,
    )
    return json_response({"comparisons": [comparison.as_json() for comparison in compared]})


async def _publish(index: str, request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, PublishBody)
    live = await admin.office.prompts.publish(
        admin.account_id,
        index,
        body.version,
        percentage=body.percentage,
        actor=admin.actor,
        known_fields=await _known_fields(admin, index),
    )
    return json_response(live_view(live))


async def _roll_back(index: str, request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, RollBackBody)
    live = await admin.office.prompts.roll_back(
        admin.account_id, index, actor=admin.actor, version=body.version
    )
    return json_response(live_view(live))


async def _slots(body: LintBody, index: str, admin: Admin) -> PromptSlots:
    if body.slots is not None and body.version is None:
        return body.slots
    if body.version is not None and body.slots is None:
        return (await admin.office.prompts.version(admin.account_id, index, body.version)).slots
    raise AccountRefused("exactly one of slots and version is needed")


async def _known_fields(admin: Admin, index: str) -> Collection[str] | None:
    """Return the index's fields; None where there is no one index or it has no documents yet."""
    if index == EVERY_INDEX:
        return None
    try:
        description = await admin.edge.search.describe_index(admin.caller, index)
    except IndexNotFound:
        return None
    return [field.name for field in description.fields] or None
