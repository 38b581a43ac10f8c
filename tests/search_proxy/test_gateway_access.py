"""Who gets in: keys in their place and out of it, derived keys, public identifiers, the open demo account."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from search_proxy.accounts.account import KeyRights, PublicAccess
from search_proxy.accounts.derived_keys import DerivedClaims, derive, derive_with
from tests.search_proxy.accounts.running_edge import RunningEdge, Shop, key, serve_edge, shop

pytestmark = pytest.mark.anyio


@pytest.fixture
def acme() -> Shop:
    """An account with keys, whose public identifier may read."""
    return shop("acme", public=True, allowed_origins=("https://shop.example",))


@pytest.fixture
def rival() -> Shop:
    """Another account on the same server."""
    return shop("rival")


@pytest.fixture
async def edge(acme: Shop, rival: Shop) -> AsyncIterator[RunningEdge]:
    """A gateway with two accounts, an index of the same name in each and one that only the rival has."""
    async with serve_edge(acme, rival) as running:
        running.backend.put("acme", "store", {"_id": "a1", "productTitle": "Acme shirt", "price": 20})
        running.backend.put("acme", "store", {"_id": "a2", "productTitle": "Acme hidden shirt", "price": 90})
        running.backend.put("rival", "store", {"_id": "r1", "productTitle": "Rival shirt"})
        running.backend.put("rival", "secretstore", {"_id": "r2", "productTitle": "Rival plan"})
        yield running


async def _status(edge: RunningEdge, headers: dict[str, str], index: str = "store", query: str = "") -> int:
    answer = await edge.client.post(edge.url(index, "search") + query, json={"q": "shirt"}, headers=headers)
    return answer.status_code


async def test_a_key_works_as_bearer_and_as_x_api_key(edge: RunningEdge, acme: Shop) -> None:
    """Both forms that clients use. Source: design, 3.4."""
    assert await _status(edge, {"Authorization": f"Bearer {acme.publishable}"}) == 200
    assert await _status(edge, {"authorization": f"bearer  {acme.publishable}"}) == 200
    assert await _status(edge, {"x-api-key": acme.publishable}) == 200
    assert await _status(edge, {"x-api-key": acme.secret}) == 200


async def test_without_a_valid_key_the_answer_is_one_and_the_same_401(edge: RunningEdge, acme: Shop) -> None:
    """Nothing tells an unknown id from a wrong secret, or a known index from another."""
    wrong_secret = acme.publishable[:-4] + "zzzz"
    texts = set()
    for headers in ({}, {"x-api-key": wrong_secret}, {"x-api-key": "pk_x"}, {"x-api-key": "nonsense"}):
        for index in ("store", "secretstore", "nowhere"):
            answer = await edge.client.post(edge.url(index, "search"), json={}, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            texts.add(answer.text)
    assert len(texts) == 1


@pytest.mark.parametrize("where", ["apiKey", "key", "x-api-key", "indexId", "anything"])
async def test_a_key_in_the_url_is_refused_even_beside_a_valid_one(
    edge: RunningEdge, acme: Shop, where: str
) -> None:
    """URLs are logged by everything on the way. Source: storefront-protocols, 6."""
    query = f"?{where}={acme.secret}"
    assert await _status(edge, {}, query=query) == 401
    assert await _status(edge, {"x-api-key": acme.publishable}, query=query) == 401


async def test_a_key_in_the_body_opens_nothing(edge: RunningEdge, acme: Shop) -> None:
    """A body never authenticates."""
    answer = await edge.client.post(edge.url("store", "search"), json={"q": "shirt", "apiKey": acme.secret})
    assert answer.status_code == 401
    assert acme.secret not in answer.text


async def test_the_tenant_never_comes_from_a_body(edge: RunningEdge, acme: Shop) -> None:
    """The worker gets the key's account, whatever the body claims. Source: design, 3.4."""
    claims = {"account": "rival", "accountId": "rival", "tenant": "rival", "indexId": "rival-store"}
    answer = await edge.client.post(
        edge.url("store", "agentic-search"), json=claims, headers={"x-api-key": acme.publishable}
    )
    assert answer.json()["account"] == "acme"
    refused = await edge.client.post(
        edge.url("store", "search"), json={"q": "shirt", **claims}, headers={"x-api-key": acme.publishable}
    )
    assert refused.status_code == 400


@pytest.mark.parametrize(
    "name",
    ["x-account-id", "x-aisle-caller", "x-aisle-account", "x-forwarded-user", "x-marqo-account", "state"],
)
async def test_headers_that_claim_a_tenant_change_nothing(edge: RunningEdge, acme: Shop, name: str) -> None:
    """Only the key says who is asking."""
    answer = await edge.client.get(
        edge.url("store", "agentic-search"), headers={"x-api-key": acme.publishable, name: "rival"}
    )
    assert answer.json()["account"] == "acme"


async def test_contradicting_credentials_are_refused(edge: RunningEdge, acme: Shop, rival: Shop) -> None:
    """Two keys, a doubled header, or an index id of somebody else: none is chosen."""
    two = {"Authorization": f"Bearer {acme.publishable}", "x-api-key": rival.publishable}
    assert await _status(edge, two) == 401
    foreign_id = {"x-api-key": acme.publishable, "x-marqo-index-id": "rival-store"}
    assert await _status(edge, foreign_id) == 401
    own_id = {"x-api-key": acme.publishable, "x-marqo-index-id": "acme-store"}
    assert await _status(edge, own_id) == 200
    doubled = await edge.client.post(
        edge.url("store", "search"),
        json={},
        headers=[("x-api-key", acme.publishable), ("x-api-key", rival.publishable)],
    )
    assert doubled.status_code == 401
    assert await _status(edge, {"Authorization": f"Basic {acme.publishable}"}) == 401


async def test_an_unknown_and_a_foreign_index_have_the_same_answer(edge: RunningEdge, acme: Shop) -> None:
    """404 names the index that was asked for and nothing else. Source: issue of the edge, 2."""
    headers = {"x-api-key": acme.publishable}
    for action, method in (("search", "POST"), ("get-documents", "POST"), ("agentic-search", "GET")):
        texts = set()
        for index in ("secretstore", "nosuchindex"):
            answer = await edge.client.request(
                method,
                edge.url(index, action),
                json={"documentIds": ["r2"]} if action == "get-documents" else {},
                headers=headers,
            )
            assert answer.status_code == 404
            texts.add(answer.text.replace(index, "INDEX"))
        assert len(texts) == 1


async def test_a_key_limited_to_indexes_finds_no_other(edge: RunningEdge, acme: Shop) -> None:
    """An index outside the key's list does not exist for it."""
    record, token = key("publishable", KeyRights(indexes=("elsewhere",)))
    account = acme.account.model_copy(update={"version": 2, "keys": (*acme.account.keys, record)})
    edge.accounts.apply(account)
    assert await _status(edge, {"x-api-key": token}) == 404


@pytest.mark.parametrize("index", ["1store", "st%20ore", "store%2Fsearch", "..", "%00", "a" * 101])
async def test_a_name_that_no_index_can_have_is_not_found(edge: RunningEdge, acme: Shop, index: str) -> None:
    """It never reaches a backend, a cache key or a file name."""
    answer = await edge.client.post(
        f"/api/v1/indexes/{index}/search", json={}, headers={"x-api-key": acme.secret}
    )
    assert answer.status_code in {401, 404}


async def test_a_publishable_key_does_not_write_or_administer(edge: RunningEdge, acme: Shop) -> None:
    """What is not listed for reading needs a secret key. Source: design, 3.4."""
    headers = {"x-api-key": acme.publishable}
    for method, path in (
        ("POST", edge.url("store", "documents")),
        ("DELETE", edge.url("store", "documents")),
        ("POST", edge.url("store", "agentic-search/reviews")),
        ("GET", edge.url("store", "jobs")),
        ("GET", "/api/v1/admin/account"),
        ("POST", "/api/v1/admin/keys"),
        ("GET", "/api/v1/anything-new"),
    ):
        answer = await edge.client.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_a_revoked_key_is_refused_at_once(edge: RunningEdge, acme: Shop) -> None:
    """The very next request."""
    assert await _status(edge, {"x-api-key": acme.publishable}) == 200
    revoked = acme.account.keys[0].model_copy(update={"revoked_at": 2.0})
    edge.accounts.apply(
        acme.account.model_copy(update={"version": 2, "keys": (revoked, acme.account.keys[1])})
    )
    assert await _status(edge, {"x-api-key": acme.publishable}) == 401
    assert await _status(edge, {"x-api-key": acme.secret}) == 200


async def test_an_expired_key_is_refused(edge: RunningEdge, acme: Shop) -> None:
    """Expiry needs no change of the account."""
    ended, ended_token = key("publishable", KeyRights(expires_at=time.time() - 1))
    lasting, lasting_token = key("publishable", KeyRights(expires_at=time.time() + 60))
    edge.accounts.apply(acme.account.model_copy(update={"version": 2, "keys": (ended, lasting)}))
    assert await _status(edge, {"x-api-key": ended_token}) == 401
    assert await _status(edge, {"x-api-key": lasting_token}) == 200


async def test_a_derived_key_carries_its_filter_and_groups(edge: RunningEdge, acme: Shop) -> None:
    """Signed by the merchant's server, without asking us. Source: storefront-protocols, 6."""
    token = derive(
        acme.secret,
        DerivedClaims(expires=time.time() + 60, filter="price:[* TO 50]", groups=("gold",)),
    )
    answer = await edge.client.post(
        edge.url("store", "search"), json={"q": "shirt"}, headers={"x-api-key": token}
    )
    assert [hit["_id"] for hit in answer.json()["hits"]] == ["a1"]
    worker = await edge.client.get(edge.url("store", "agentic-search"), headers={"x-api-key": token})
    assert worker.json()["groups"] == ["gold"]
    assert worker.json()["filter"] == "price:[* TO 50]"
    assert (await edge.client.get("/api/v1/admin/account", headers={"x-api-key": token})).status_code == 403


async def test_a_merchant_s_server_derives_a_key_as_the_guide_says(edge: RunningEdge, acme: Shop) -> None:
    """The guide's own code, run. Source: docs/accounts.md."""
    guide = (Path(__file__).parents[2] / "docs" / "accounts.md").read_text()
    code = guide.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {"SECRET_KEY": acme.secret}
    exec(compile(code, "docs/accounts.md", "exec"), names)
    token = names["derive"](acme.secret, expires=time.time() + 60, filter="price:[50 TO *]")
    answer = await edge.client.post(
        edge.url("store", "search"), json={"q": "shirt"}, headers={"x-api-key": token}
    )
    assert [hit["_id"] for hit in answer.json()["hits"]] == ["a2"]


async def test_an_expired_derived_key_is_refused_also_when_it_was_good_before(
    acme: Shop,
) -> None:
    """Remembering a checked key does not outlive its expiry."""
    clock = [1_000.0]
    async with serve_edge(acme) as edge:
        edge.backend.put("acme", "store", {"_id": "a1"})
        edge.accounts._now = lambda: clock[0]
        token = derive(acme.secret, DerivedClaims(expires=1_060.0))
        assert await _status(edge, {"x-api-key": token}) == 200
        clock[0] = 1_061.0
        assert await _status(edge, {"x-api-key": token}) == 401


async def test_forged_derived_keys_are_refused(edge: RunningEdge, acme: Shop, rival: Shop) -> None:
    """Other claims, another parent, another signing key, a publishable parent, no signature."""
    token = derive(acme.secret, DerivedClaims(expires=time.time() + 60, filter="price:[* TO 50]"))
    parent, _, signature = token.split(".")
    wider = base64.urlsafe_b64encode(orjson.dumps({"expires": time.time() + 9_999})).rstrip(b"=").decode()
    rival_parent = rival.secret.split("_")[1]
    forged = [
        f"{parent}.{wider}.{signature}",
        token[:-1] + ("A" if token[-1] != "A" else "B"),
        f"{parent}.{wider}.{'A' * 43}",
        f"{parent}.{wider}.",
        f"dk_{rival_parent}.{token.split('.', 1)[1]}",
        derive_with(acme.publishable.split("_")[1], "0" * 64, DerivedClaims(expires=time.time() + 60)),
        derive_with(acme.secret.split("_")[1], "0" * 64, DerivedClaims(expires=time.time() + 60)),
        token + "A",
        token.replace(".", "%2E"),
    ]
    assert await _status(edge, {"x-api-key": token}) == 200
    for candidate in forged:
        assert await _status(edge, {"x-api-key": candidate}) == 401, candidate


async def test_a_derived_key_dies_with_its_parent(edge: RunningEdge, acme: Shop) -> None:
    """Also when it was recognised a moment ago."""
    token = derive(acme.secret, DerivedClaims(expires=time.time() + 60))
    assert await _status(edge, {"x-api-key": token}) == 200
    edge.accounts.apply(acme.account.model_copy(update={"version": 2, "keys": acme.account.keys[:1]}))
    assert await _status(edge, {"x-api-key": token}) == 401


async def test_the_public_identifier_reads_its_own_index_only(edge: RunningEdge, rival: Shop) -> None:
    """`{account}-{index}`, where the account allows it. Source: design, 3.4."""
    assert await _status(edge, {"x-marqo-index-id": "acme-store"}) == 200
    assert await _status(edge, {}, query="?indexId=acme-store") == 200
    assert await _status(edge, {"x-marqo-index-id": "acme-other"}) == 401
    assert await _status(edge, {"x-marqo-index-id": "acme-store"}, index="secretstore") == 401
    assert await _status(edge, {"x-marqo-index-id": "rival-store"}) == 401
    assert await _status(edge, {}, query="?indexId=acme-store&indexId=rival-store") == 401
    writing = await edge.client.post(
        edge.url("store", "documents"), json={}, headers={"x-marqo-index-id": "acme-store"}
    )
    assert writing.status_code == 403
    admin = await edge.client.get("/api/v1/admin/account", headers={"x-marqo-index-id": "acme-store"})
    assert admin.status_code == 401


async def test_an_index_name_with_hyphens_belongs_to_the_account_before_the_first(
    edge: RunningEdge, acme: Shop
) -> None:
    """Account ids have no hyphen."""
    edge.backend.put("acme", "my-store-2", {"_id": "a1", "productTitle": "shirt"})
    assert await _status(edge, {"x-marqo-index-id": "acme-my-store-2"}, index="my-store-2") == 200


async def test_public_access_that_is_switched_off_is_401(edge: RunningEdge, acme: Shop) -> None:
    """Off is the default."""
    edge.accounts.apply(
        acme.account.model_copy(update={"version": 2, "public_access": PublicAccess(enabled=False)})
    )
    assert await _status(edge, {"x-marqo-index-id": "acme-store"}) == 401


async def test_demo_mode_opens_one_account_to_this_machine_alone(acme: Shop) -> None:
    """By address and by name: a foreign name that points here does not count. Source: design, 3.4."""
    async with serve_edge(acme, demo=True) as edge:
        edge.backend.put("demo", "demo", {"_id": "d1", "productTitle": "Demo shirt"})
        edge.backend.put("acme", "store", {"_id": "a1"})
        assert await _status(edge, {}, index="demo") == 200
        assert await _status(edge, {}, index="store") == 404
        assert await _status(edge, {"Host": "rebound.example"}, index="demo") == 401
        assert await _status(edge, {"x-api-key": "nonsense"}, index="demo") == 401
        answer = await edge.client.get(edge.url("demo", "agentic-search"))
        assert (answer.json()["account"], answer.json()["key_kind"]) == ("demo", "open")
    async with serve_edge(acme, demo=False) as edge:
        edge.backend.put("demo", "demo", {"_id": "d1"})
        assert await _status(edge, {}, index="demo") == 401
