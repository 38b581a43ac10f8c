"""The admin API: accounts, keys, settings, files and prompts with a secret key."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.search_proxy.accounts.served_office import ServedOffice, serve_office

pytestmark = pytest.mark.anyio


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedOffice]:
    """A served office with one account and one index."""
    async with serve_office(tmp_path) as running:
        await running.office.administration.create_account("acme", name="Acme", actor="test")
        running.backend.put("acme", "store", {"_id": "p1", "productTitle": "warm jacket", "price": 20})
        yield running


@pytest.fixture
async def key(served: ServedOffice) -> str:
    """A secret key of the account."""
    return (await served.office.keys.create("acme", "secret", {}, actor="test")).token


async def test_a_created_key_is_shown_once_and_works(served: ServedOffice, key: str) -> None:
    """Afterwards only its id and rights are seen. Source: storefront-protocols, 6."""
    created = await served.call(
        key, "POST", "keys", {"kind": "publishable", "label": "shop", "rights": {"indexes": ["store"]}}
    )
    assert created.status_code == 201
    token = created.json()["key"]
    search = await served.client.post(
        "/api/v1/indexes/store/search", json={"q": "jacket"}, headers={"x-api-key": token}
    )
    assert search.status_code == 200
    shown = await served.call(key, "GET", "account")
    assert created.json()["key_id"] in shown.text
    assert token.rpartition("_")[2] not in shown.text
    assert "secret_hash" not in shown.text
    assert "signing_key" not in shown.text


async def test_a_rotated_key_and_its_successor_work_side_by_side_until_the_overlap_ends(
    served: ServedOffice, key: str
) -> None:
    """Storefronts are redeployed while both work."""
    created = (await served.call(key, "POST", "keys", {"kind": "publishable"})).json()
    rotated = await served.call(key, "POST", f"keys/{created['key_id']}/rotate", {"overlap_seconds": 60})
    successor = rotated.json()
    assert successor["rights"] == created["rights"]
    for token in (created["key"], successor["key"]):
        assert served.office.directory.identify(token) is not None
    served.office.directory._now = lambda: time.time() + 61
    assert served.office.directory.identify(created["key"]) is None
    assert served.office.directory.identify(successor["key"]) is not None


async def test_a_key_revoked_over_the_api_is_refused_by_the_next_request(
    served: ServedOffice, key: str
) -> None:
    """At once, in this process."""
    created = (await served.call(key, "POST", "keys", {"kind": "secret"})).json()
    assert (await served.call(created["key"], "GET", "account")).status_code == 200
    assert (await served.call(key, "DELETE", f"keys/{created['key_id']}")).status_code == 200
    assert (await served.call(created["key"], "GET", "account")).status_code == 401
    assert (await served.call(key, "DELETE", f"keys/{created['key_id']}")).status_code == 404


async def test_the_server_signs_a_derived_key_for_a_shop_that_cannot(served: ServedOffice, key: str) -> None:
    """The calling key is its parent."""
    claims = {"expires": time.time() + 60, "filter": "price:[100 TO *]", "groups": ["gold"]}
    derived = (await served.call(key, "POST", "keys/derive", claims)).json()["key"]
    found = await served.client.post(
        "/api/v1/indexes/store/search", json={"q": "jacket"}, headers={"x-api-key": derived}
    )
    assert found.json()["totalHits"] == 0
    past = await served.call(key, "POST", "keys/derive", {"expires": 5})
    assert (past.status_code, past.json()["message"][:14]) == (400, "expires is 5.0")


async def test_only_an_operator_key_makes_accounts(served: ServedOffice, key: str) -> None:
    """And an ordinary key cannot make itself one."""
    body = {"account_id": "fresh"}
    assert (await served.call(key, "POST", "accounts", body)).status_code == 403
    assert (await served.call(key, "GET", "accounts")).status_code == 403
    escalation = {"kind": "secret", "rights": {"operator": True}}
    assert (await served.call(key, "POST", "keys", escalation)).status_code == 403
    operator = (await served.office.keys.create("acme", "secret", {"operator": True}, actor="test")).token
    created = await served.call(operator, "POST", "accounts", body)
    assert created.status_code == 201
    own = await served.call(created.json()["key"]["key"], "GET", "account")
    assert own.json()["account_id"] == "fresh"
    assert (await served.call(operator, "POST", "accounts", body)).status_code == 409


@pytest.mark.parametrize(
    ("rights", "message"),
    [
        ({"allowed_origins": ["shop.example"]}, "rights.allowed_origins.0: 'shop.example' is not an origin"),
        ({"allowed_origins": ["https://*.example"]}, "rights.allowed_origins.0: 'https://*.example' is not"),
        ({"forced_filter": "color:("}, "rights.forced_filter: not a filter: color:("),
        ({"requests_per_minute": 0}, "rights.requests_per_minute is 0; it takes an integer from 1 to"),
        ({"rates": 1}, "rights.rates is not a known field; known here: allowed_origins, expires_at"),
        ({"indexes": ["1st"]}, "rights.indexes.0: '1st' is not an index name"),
    ],
)
async def test_rights_that_cannot_be_used_are_refused_by_name(
    served: ServedOffice, key: str, rights: dict[str, object], message: str
) -> None:
    """Nothing is stored."""
    before = (await served.call(key, "GET", "account")).json()["version"]
    answer = await served.call(key, "POST", "keys", {"kind": "publishable", "rights": rights})
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(message)
    assert (await served.call(key, "GET", "account")).json()["version"] == before


async def test_a_setting_is_in_use_by_the_next_request_with_its_version(
    served: ServedOffice, key: str
) -> None:
    """Also for the worker, which gets the version for its receipt."""
    changed = await served.call(key, "PATCH", "settings/store", {"feature_flags": {"agentic_search": False}})
    assert (changed.status_code, changed.json()["version"]) == (200, 1)
    worker = await served.client.get("/api/v1/indexes/store/agentic-search", headers={"x-api-key": key})
    assert worker.json()["settings_version"] == 1
    assert worker.json()["flags"]["agentic_search"] is False
    shown = (await served.call(key, "GET", "settings/store")).json()
    assert shown["version"] == shown["version_in_use"] == 1
    assert shown["own"] == {"feature_flags": {"agentic_search": False}}
    assert shown["effective"]["feature_flags"]["converse"] is True


async def test_an_index_inherits_what_the_account_sets(served: ServedOffice, key: str) -> None:
    """`*` is the account's own part."""
    await served.call(key, "PATCH", "settings/*", {"agentic_config": {"max_categories": 2}})
    await served.call(key, "PATCH", "settings/store", {"agentic_config": {"enable_summary": False}})
    effective = (await served.call(key, "GET", "settings/store")).json()["effective"]["agentic_config"]
    assert (effective["max_categories"], effective["enable_summary"]) == (2, False)
    assert served.office.directory.snapshot("acme", "other").settings.agentic_config.max_categories == 2
    replaced = await served.call(key, "PUT", "settings/store", {})
    assert replaced.json()["own"] == {}


async def test_a_refused_setting_changes_nothing(served: ServedOffice, key: str) -> None:
    """The message names the field and the allowed values."""
    answer = await served.call(
        key, "PATCH", "settings/store", {"agentic_config": {"max_categories": 9, "enable_summary": False}}
    )
    assert answer.status_code == 400
    assert answer.json()["message"] == "agentic_config.max_categories is 9; it takes an integer from 1 to 6"
    assert (await served.call(key, "GET", "settings/store")).json()["version"] == 0


async def test_settings_written_over_a_newer_version_are_a_conflict(served: ServedOffice, key: str) -> None:
    """For two people at two consoles."""
    headers = {"x-api-key": key, "if-match": '"0"'}
    for expected in (200, 409):
        answer = await served.client.patch(
            "/api/v1/admin/settings/store", json={"cached_query_percentage": 7}, headers=headers
        )
        assert answer.status_code == expected


async def test_an_export_imports_without_changing_anything(served: ServedOffice, key: str) -> None:
    """Files round-trip, byte for byte."""
    await served.call(key, "PATCH", "settings/store", {"cached_query_percentage": 7})
    await served.call(key, "PUT", "public-access", {"enabled": True})
    written = await served.call(key, "POST", "prompts/store", {"slots": {"voice": "calm"}, "note": "first"})
    await served.call(key, "POST", "prompts/store/publish", {"version": written.json()["version"]})
    exported = await served.call(key, "GET", "export")
    version = (await served.call(key, "GET", "account")).json()["version"]
    imported = await served.client.put(
        "/api/v1/admin/import", content=exported.content, headers={"x-api-key": key}
    )
    assert imported.json()["version"] == version
    assert (await served.call(key, "GET", "export")).content == exported.content
    changed = exported.json() | {"settings": {}, "prompts": {"store": {"voice": "lively"}}}
    await served.call(key, "PUT", "import", changed)
    account = (await served.call(key, "GET", "account")).json()
    assert (account["settings"], account["prompts"]["store"]["published"]) == ({}, 2)
    foreign = await served.call(key, "PUT", "import", changed | {"account": "rival"})
    assert foreign.json()["message"] == "the file is of account 'rival', not of 'acme'"


async def test_every_change_is_in_the_audit_log_with_its_author(served: ServedOffice, key: str) -> None:
    """Who, what, when, and which version of the account it made."""
    await served.call(key, "PATCH", "settings/store", {"cached_query_percentage": 7})
    newest, *older = (await served.call(key, "GET", "audit")).json()["entries"]
    assert newest["actor"] == f"key {key.split('_')[1]}"
    assert (newest["action"], newest["target"]) == ("settings.set", "store")
    assert newest["detail"] == {"cached_query_percentage": 7}
    assert [entry["action"] for entry in older] == ["key.create", "account.create"]
    assert [newest["version"], *(entry["version"] for entry in older)] == [3, 2, 1]


async def test_a_prompt_goes_from_draft_to_published_to_rolled_back(served: ServedOffice, key: str) -> None:
    """Versions stay as they were written; rollback is publishing again."""
    for voice in ("calm", "lively"):
        await served.call(key, "POST", "prompts/store", {"slots": {"voice": voice}, "note": voice})
    assert (await served.call(key, "GET", "prompts/store")).json()["published"] is None
    for version in (1, 2):
        await served.call(key, "POST", "prompts/store/publish", {"version": version})
    diff = (await served.call(key, "GET", "prompts/store/diff?since=1&to=2")).json()["diff"]
    assert "-calm" in diff
    assert "+lively" in diff
    in_use = served.office.directory.snapshot("acme", "store").prompts.for_session("acme", "s1")
    assert (in_use.version, in_use.slots.voice) == (2, "lively")
    back = await served.call(key, "POST", "prompts/store/rollback", {})
    assert back.json()["published"] == 1
    versions = (await served.call(key, "GET", "prompts/store")).json()["versions"]
    assert [(one["version"], one["note"]) for one in versions] == [(2, "lively"), (1, "calm")]
    assert versions[0]["author"].startswith("key ")
    assert (await served.call(key, "POST", "prompts/store/publish", {"version": 9})).status_code == 404


async def test_a_rollout_is_stopped_by_a_rollback_without_touching_the_published_version(
    served: ServedOffice, key: str
) -> None:
    """The kill switch."""
    for voice in ("calm", "lively"):
        await served.call(key, "POST", "prompts/store", {"slots": {"voice": voice}})
    await served.call(key, "POST", "prompts/store/publish", {"version": 1})
    rolled = await served.call(key, "POST", "prompts/store/publish", {"version": 2, "percentage": 25})
    assert rolled.json() == {"published": 1, "rollout": {"version": 2, "percentage": 25.0}}
    live = served.office.directory.snapshot("acme", "store").prompts
    share = sum(live.for_session("acme", f"s{number}").version == 2 for number in range(1_000))
    assert 200 < share < 300
    stopped = await served.call(key, "POST", "prompts/store/rollback", {})
    assert stopped.json() == {"published": 1, "rollout": None}


async def test_a_prompt_with_a_secret_is_not_published(served: ServedOffice, key: str) -> None:
    """The finding does not repeat it."""
    secret = "AIzaSyA1234567890abcdefghijklmnopqrstuv"
    written = await served.call(key, "POST", "prompts/store", {"slots": {"voice": f"use {secret}"}})
    assert written.json()["findings"][0]["severity"] == "error"
    refused = await served.call(key, "POST", "prompts/store/publish", {"version": 1})
    assert refused.status_code == 400
    assert (
        refused.json()["message"]
        == "version 1 cannot be published: voice holds what looks like a Google API key"
    )


async def test_a_preview_shows_the_draft_beside_the_published_prompt(served: ServedOffice, key: str) -> None:
    """On the merchant's own queries and the live catalog. Source: storefront-protocols, 4."""
    await served.call(key, "POST", "prompts/store", {"slots": {"voice": "calm"}})
    await served.call(key, "POST", "prompts/store/publish", {"version": 1})
    preview = await served.call(
        key, "POST", "prompts/store/preview", {"slots": {"voice": "lively"}, "queries": ["jacket", "lamp"]}
    )
    first, second = preview.json()["comparisons"]
    assert (first["query"], second["query"]) == ("jacket", "lamp")
    assert first["draft"]["categories"][0]["label"] == "lively jacket"
    assert first["published"]["categories"][0]["label"] == "calm jacket"
    assert first["published"]["prompt_version"] == 1
    assert first["draft"]["categories"][0]["hits"] == [{"_id": "p1", "title": "warm jacket"}]
    neither = await served.call(key, "POST", "prompts/store/preview", {"queries": ["x"]})
    assert neither.json()["message"] == "exactly one of slots and version is needed"
    unknown = await served.call(key, "POST", "prompts/nowhere/preview", {"slots": {}, "queries": ["x"]})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "index_not_found")


async def test_readyz_says_how_fresh_the_settings_are(served: ServedOffice, key: str) -> None:
    """Without a key, and without a word about accounts."""
    before = (await served.client.get("/readyz")).json()["settings"]["changes"]
    await served.call(key, "PATCH", "settings/store", {"cached_query_percentage": 7})
    answer = (await served.client.get("/readyz")).json()
    assert answer["settings"]["changes"] == before + 1
    assert answer["settings"]["ageSeconds"] < 5
    assert "acme" not in str(answer)


async def test_the_settings_schema_is_public(served: ServedOffice) -> None:
    """For a console, and for whoever keeps settings in git."""
    schema = (await served.client.get("/api/v1/admin/settings-schema")).json()
    assert schema["properties"]["cached_query_percentage"]["maximum"] == 100


async def test_a_key_restricted_to_indexes_does_not_administer(served: ServedOffice) -> None:
    """Account-wide rights need an unrestricted key."""
    token = (await served.office.keys.create("acme", "secret", {"indexes": ["store"]}, actor="t")).token
    assert (await served.call(token, "GET", "account")).status_code == 403
