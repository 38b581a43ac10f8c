"""Whose conversation it is: list, read, export and delete over HTTP, by owner alone."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from search_proxy.accounts.keys import KeyKind
from tests.support.shop import Shop, open_shop, products
from tests.support.talk import CONVERSATIONS, CONVERSE, Talk

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two_accounts(folder: Path) -> AsyncIterator[tuple[Shop, dict[str, dict[str, str]]]]:
    """A shop with the accounts acme and other, and the headers of their keys by `account kind`."""
    async with open_shop(folder) as shop:
        office = shop.services.office
        headers = {}
        kinds: tuple[KeyKind, ...] = ("publishable", "secret")
        for account_id in ("acme", "other"):
            await office.administration.create_account(account_id, actor="test")
            await shop.services.catalog.add_documents(account_id, "demo", products())
            for kind in kinds:
                new = await office.keys.create(account_id, kind, {}, actor="test")
                headers[f"{account_id} {kind}"] = {"x-api-key": new.token}
        yield shop, headers


async def test_a_conversation_is_read_and_deleted_by_who_knows_its_id_within_the_account(
    tmp_path: Path,
) -> None:
    """Another account gets what it would get for an id that was never issued."""
    async with two_accounts(tmp_path) as (shop, keys):
        talk = Talk(shop.client, headers=keys["acme publishable"])
        await talk.say("show me tents")
        address = f"{CONVERSATIONS}/{talk.conversation_id}"
        for key in ("other publishable", "other secret"):
            for method in ("GET", "DELETE"):
                answer = await shop.client.request(method, address, headers=keys[key])
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            refused = await shop.client.post(CONVERSE, json=talk.body("show me more"), headers=keys[key])
            assert refused.status_code == 404
        assert (await talk.stored())["turns"] == 1
        deleted = await shop.client.delete(address, headers=keys["acme publishable"])
        assert deleted.status_code == 204
        for method in ("GET", "DELETE"):
            gone = await shop.client.request(method, address, headers=keys["acme secret"])
            assert gone.status_code == 404


async def test_the_list_shows_ids_and_is_for_the_secret_key_alone(tmp_path: Path) -> None:
    """Newest first, page by page, the account's own."""
    async with two_accounts(tmp_path) as (shop, keys):
        talks = [Talk(shop.client, headers=keys["acme publishable"]) for _ in range(3)]
        for talk in talks:
            await talk.say("show me tents")
        await talks[0].say("in red")
        listed = (await shop.client.get(CONVERSATIONS, headers=keys["acme secret"])).json()
        page = await shop.client.get(
            CONVERSATIONS, params={"limit": 1, "offset": 1}, headers=keys["acme secret"]
        )
        others = await shop.client.get(CONVERSATIONS, headers=keys["other secret"])
        forbidden = await shop.client.get(CONVERSATIONS, headers=keys["acme publishable"])
        wrong = await shop.client.get(CONVERSATIONS, params={"limit": 0}, headers=keys["acme secret"])
    ids = [row["conversationId"] for row in listed["conversations"]]
    assert ids == [talks[number].conversation_id for number in (0, 2, 1)]
    assert [row["turns"] for row in listed["conversations"]] == [2, 1, 1]
    assert [row["conversationId"] for row in page.json()["conversations"]] == [ids[1]]
    assert others.json()["conversations"] == []
    assert (forbidden.status_code, wrong.status_code) == (403, 400)


async def test_an_export_holds_everything_that_is_kept(tmp_path: Path) -> None:
    """A file that its owner can take along; reading leaves out what only the rules need."""
    async with two_accounts(tmp_path) as (shop, keys):
        talk = Talk(shop.client, headers=keys["acme publishable"])
        said = await talk.say("show me tents")
        await talk.say("in red")
        address = f"{CONVERSATIONS}/{talk.conversation_id}"
        exported = await shop.client.get(address, params={"format": "export"}, headers=talk.headers)
        read = await talk.stored()
        wrong = await shop.client.get(address, params={"format": "pdf"}, headers=talk.headers)
    whole = exported.json()
    assert exported.headers["content-disposition"].startswith("attachment")
    assert (whole["format"], whole["turns"], whole["conversationId"]) == (1, 2, talk.conversation_id)
    first = whole["interactions"][0]
    assert first["query"] == "show me tents"
    assert first["summary"] == said.text
    assert first["productIds"] == said.ids
    assert [row[0] for row in first["state"]["shown"]] == said.ids
    assert "state" not in read["interactions"][0]
    assert wrong.status_code == 400


async def test_deleting_leaves_nothing_behind(tmp_path: Path) -> None:
    """No row, no alarm, no word in the file, and nothing for late readers of its streams."""
    async with open_shop(tmp_path) as shop:
        talk = Talk(shop.client)
        said = await talk.say("show me very particular xylophones and tents")
        await shop.client.delete(f"{CONVERSATIONS}/{talk.conversation_id}")
        late = await shop.client.get(CONVERSE, headers={"last-event-id": said.events[0].id})
    assert late.status_code == 204
    with closing(sqlite3.connect(tmp_path / "conversations.sqlite3")) as database:
        for table in ("conversation", "turn", "alarm"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert b"xylophones" not in kept_bytes(tmp_path)


def kept_bytes(folder: Path) -> bytes:
    """Return the database and its log, byte for byte."""
    return b"".join(path.read_bytes() for path in folder.glob("conversations.sqlite3*"))
