"""The admin API for accounts, keys and settings: `/api/v1/admin/...`, with a secret key.

The account is the key's own, always. What the command line can do stands here too, over the same desks.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from search_proxy.accounts.account_file import exported, imported, read_file
from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.admin_requests import (
    DeriveBody,
    NewAccountBody,
    NewKeyBody,
    RotateBody,
    read_body,
    read_object,
)
from search_proxy.accounts.administration import check_scope
from search_proxy.accounts.views import account_view, audit_view, key_view, new_key_view, settings_view
from search_proxy.gateway_admin_access import Admin, AdminOf
from search_proxy.gateway_errors import Refusal, json_response


def admin_routes() -> APIRouter:
    """Return the routes of accounts, keys, settings, files and the audit log."""
    router = APIRouter(prefix="/api/v1/admin", tags=["admin"])
    for path, method, endpoint, summary in (
        ("/account", "GET", _account, "Show the account"),
        ("/accounts", "GET", _accounts, "List accounts (operator key)"),
        ("/accounts", "POST", _create_account, "Create an account with its first secret key (operator key)"),
        ("/keys", "GET", _keys, "List keys"),
        ("/keys", "POST", _create_key, "Create a key, shown once"),
        ("/keys/derive", "POST", _derive, "Sign a derived key with the calling key"),
        ("/keys/{key_id}", "DELETE", _revoke, "Revoke a key at once"),
        ("/keys/{key_id}/rotate", "POST", _rotate, "Replace a key, with overlap"),
        ("/public-access", "PUT", _set_public_access, "Set how x-marqo-index-id reads"),
        ("/settings/{index}", "GET", _settings, "Show the settings of an index, or of * for the account"),
        ("/settings/{index}", "PUT", _put_settings, "Replace the settings"),
        ("/settings/{index}", "PATCH", _patch_settings, "Change some settings"),
        ("/export", "GET", _export, "Settings and prompts as one file"),
        ("/import", "PUT", _import, "Make the account what the file says"),
        ("/audit", "GET", _audit, "The newest changes"),
    ):
        router.add_api_route(path, endpoint, methods=[method], summary=summary)
    return router


async def _account(admin: AdminOf) -> Response:
    return json_response(account_view(await admin.office.administration.account(admin.account_id)))


async def _accounts(admin: AdminOf) -> Response:
    admin.require_operator()
    accounts = await admin.office.administration.accounts()
    return json_response({"accounts": [{"account_id": one.account_id, "name": one.name} for one in accounts]})


async def _create_account(request: Request, admin: AdminOf) -> Response:
    admin.require_operator()
    body = await read_body(request, NewAccountBody)
    account = await admin.office.administration.create_account(
        body.account_id, name=body.name, actor=admin.actor
    )
    key = await admin.office.keys.create(account.account_id, "secret", {}, label="first", actor=admin.actor)
    return json_response({"account_id": account.account_id, "key": new_key_view(key)}, 201)


async def _keys(admin: AdminOf) -> Response:
    account = await admin.office.administration.account(admin.account_id)
    return json_response({"keys": [key_view(key) for key in account.keys]})


async def _create_key(request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, NewKeyBody)
    if body.rights.operator:
        admin.require_operator()
    new = await admin.office.keys.create(
        admin.account_id,
        body.kind,
        body.rights.model_dump(mode="json"),
        label=body.label,
        actor=admin.actor,
    )
    return json_response(new_key_view(new), 201)


async def _derive(request: Request, admin: AdminOf) -> Response:
    claims = await read_body(request, DeriveBody)
    return json_response({"key": await admin.office.keys.derive(admin.account_id, admin.key_id, claims)}, 201)


async def _revoke(key_id: str, admin: AdminOf) -> Response:
    await admin.office.keys.revoke(admin.account_id, key_id, actor=admin.actor)
    return json_response({"key_id": key_id, "revoked": True})


async def _rotate(key_id: str, request: Request, admin: AdminOf) -> Response:
    body = await read_body(request, RotateBody)
    new = await admin.office.keys.rotate(
        admin.account_id, key_id, overlap_seconds=body.overlap_seconds, actor=admin.actor
    )
    return json_response(new_key_view(new), 201)


async def _set_public_access(request: Request, admin: AdminOf) -> Response:
    account = await admin.office.administration.set_public_access(
        admin.account_id, await read_object(request), actor=admin.actor
    )
    return json_response(account.public_access.model_dump(mode="json"))


async def _settings(index: str, admin: AdminOf) -> Response:
    check_scope(index)
    account = await admin.office.administration.account(admin.account_id)
    in_use = admin.office.directory.snapshot(admin.account_id, index).version
    return json_response({**settings_view(account, index), "version_in_use": in_use})


async def _put_settings(index: str, request: Request, admin: AdminOf) -> Response:
    return await _set_settings(index, request, admin, merge=False)


async def _patch_settings(index: str, request: Request, admin: AdminOf) -> Response:
    return await _set_settings(index, request, admin, merge=True)


async def _set_settings(index: str, request: Request, admin: Admin, *, merge: bool) -> Response:
    account = await admin.office.administration.set_settings(
        admin.account_id,
        index,
        await read_object(request),
        actor=admin.actor,
        merge=merge,
        if_version=_if_match(request),
    )
    return json_response(settings_view(account, index))


async def _export(admin: AdminOf) -> Response:
    file = exported(await admin.office.administration.account(admin.account_id))
    return Response(file, media_type="application/json")


async def _import(request: Request, admin: AdminOf) -> Response:
    office: AccountOffice = admin.office
    account = await imported(
        office.administration,
        office.prompts,
        admin.account_id,
        read_file(await request.body()),
        actor=admin.actor,
    )
    return json_response(account_view(account))


async def _audit(admin: AdminOf, limit: int = 100) -> Response:
    entries = await admin.office.administration.audit(admin.account_id, limit=limit)
    return json_response({"entries": [audit_view(entry) for entry in entries]})


def _if_match(request: Request) -> int | None:
    value: Any = request.headers.get("if-match")
    if value is None:
        return None
    number = value.strip('"')
    if not number.isdigit():
        raise Refusal(400, f"if-match is {value!r}; it takes the version of the settings that you read")
    return int(number)
