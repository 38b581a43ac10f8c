"""The ecommerce API beside search, over the real engine: collections, completions, documents, jobs."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.document_jobs import DocumentJobs, open_document_jobs
from search_proxy.proxy import SearchProxy
from tests.search_proxy.accounts.running_edge import RunningEdge, Shop, serve_edge, shop

pytestmark = pytest.mark.anyio

_PRODUCTS: list[dict[str, Any]] = [
    {"_id": "dome", "productTitle": "Dome tent", "productCollections": ["Tents"], "price": 99.0, "tier": "a"},
    {
        "_id": "tunnel",
        "productTitle": "Tunnel tent",
        "productCollections": ["Tents"],
        "price": 49.0,
        "tier": "a",
    },
    {"_id": "tent-secret", "productTitle": "Tent prototype", "productCollections": ["Lab"], "tier": "b"},
    {"_id": "tent-secret-2", "productTitle": "Tent prototype", "productCollections": ["Lab"], "tier": "b"},
    {
        "_id": "mug",
        "productTitle": "Enamel mug",
        "productCollections": ["Kitchen"],
        "price": 9.0,
        "tier": "a",
    },
]


@pytest.fixture
def acme() -> Shop:
    """An account whose shoppers see the products of one tier."""
    return shop("acme", forced_filter="tier:a")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[EmbeddedBackend]:
    """An engine with a small shop."""
    async with open_embedded(tmp_path) as opened:
        await opened.add_documents("acme", "store", _PRODUCTS)
        yield opened


@pytest.fixture
async def edge(engine: EmbeddedBackend, acme: Shop, tmp_path: Path) -> AsyncIterator[RunningEdge]:
    """A gateway over that engine."""
    async with AsyncExitStack() as stack:
        jobs = await stack.enter_async_context(open_document_jobs(tmp_path, engine))
        services: dict[str, Any] = {
            "search": SearchProxy(engine),
            "backend": engine,
            "catalog": engine,
            "document_jobs": jobs,
        }
        yield await stack.enter_async_context(serve_edge(acme, **services))


async def _finished(edge: RunningEdge, acme: Shop, answer: Any) -> dict[str, Any]:
    """Return the job that `answer` accepted, as soon as it is finished."""
    assert answer.status_code == 202, answer.text
    assert edge.services.document_jobs is not None
    async with asyncio.timeout(5):
        await edge.services.document_jobs.settled()
    path = edge.url("store", f"jobs/{answer.json()['jobId']}")
    body: dict[str, Any] = (await edge.client.get(path, headers={"x-api-key": acme.secret})).json()
    return body


async def test_a_collection_is_listed_in_its_order_with_facets(edge: RunningEdge, acme: Shop) -> None:
    """`POST collections`, sorted, filtered and counted. Source: marqo-api, 2.1."""
    body = {
        "collectionName": "Tents",
        "filter": "price:[* TO 500]",
        "facets": {"fields": {"price": {"type": "number"}}},
        "sortBy": {"fields": [{"fieldName": "price", "order": "asc"}]},
    }
    answer = await edge.client.post(
        edge.url("store", "collections"), json=body, headers={"x-api-key": acme.publishable}
    )
    found = answer.json()
    assert [hit["_id"] for hit in found["hits"]] == ["tunnel", "dome"]
    assert (found["totalHits"], found["facets"]["price"]["count"], found["query"]) == (2, 2, None)


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
async def test_a_collection_is_asked_for_in_a_url(edge: RunningEdge, acme: Shop, encode: Any) -> None:
    """`GET collections?body=` in either base64, with or without its padding. Source: marqo-api, 2.1."""
    body = encode(orjson.dumps({"collectionName": "Tents", "limit": 1})).decode().rstrip("=")
    answer = await edge.client.get(
        edge.url("store", "collections"), params={"body": body}, headers={"x-api-key": acme.publishable}
    )
    assert (answer.json()["totalHits"], len(answer.json()["hits"])) == (2, 1)


async def test_a_search_may_be_a_get_and_browses_with_a_star(edge: RunningEdge, acme: Shop) -> None:
    """Plain parameters or a body; every product that the caller may see."""
    headers = {"x-api-key": acme.publishable}
    plain = await edge.client.get(
        edge.url("store", "search"), params={"q": "*", "limit": "2"}, headers=headers
    )
    assert (plain.json()["totalHits"], len(plain.json()["hits"])) == (3, 2)
    assert plain.json()["hits"][0]["_score"] is None
    body = base64.b64encode(orjson.dumps({"q": "tent", "filter": "price:[50 TO *]"})).decode()
    coded = await edge.client.get(edge.url("store", "search"), params={"body": body}, headers=headers)
    assert [hit["_id"] for hit in coded.json()["hits"]] == ["dome"]


@pytest.mark.parametrize(
    ("action", "params", "message"),
    [
        ("collections", {"body": "%%%"}, "body must be JSON in base64"),
        ("collections", {}, "collectionName"),
        ("collections", {"body": "e30=", "limit": "1"}, "'limit' stands beside 'body'"),
        ("search", {"explain": "yes"}, "explain must be 'true' or 'false', not 'yes'"),
        ("search", {"limit": "many"}, "limit must be a whole number, not 'many'"),
        ("search", {"sortBy": "price"}, "'sortBy' is no parameter of a GET"),
    ],
)
async def test_a_get_that_cannot_be_read_says_why(
    edge: RunningEdge, acme: Shop, action: str, params: dict[str, str], message: str
) -> None:
    """400, with what would be right."""
    answer = await edge.client.get(
        edge.url("store", action), params=params, headers={"x-api-key": acme.publishable}
    )
    assert answer.status_code == 400
    assert message in answer.json()["message"]


async def test_what_is_typed_is_completed_from_what_the_caller_may_see(edge: RunningEdge, acme: Shop) -> None:
    """`recommendations/queries`; what the forced filter hides stays hidden. Source: marqo-api, 1."""
    path = edge.url("store", "recommendations/queries")
    for name in ("q", "query"):
        answer = await edge.client.post(
            path, json={name: "ten", "limit": 5}, headers={"x-api-key": acme.publishable}
        )
        assert {one["suggestion"] for one in answer.json()["suggestions"]} == {"tent", "tents"}
    whole = await edge.client.post(path, json={"q": "ten"}, headers={"x-api-key": acme.secret})
    assert "tent prototype" in {one["suggestion"] for one in whole.json()["suggestions"]}


@pytest.mark.parametrize("body", [{}, {"q": "x" * 300}, {"q": "a", "limit": 0}, {"q": "a", "model": "b"}])
async def test_a_completion_that_cannot_be_read_is_refused(
    edge: RunningEdge, acme: Shop, body: dict[str, Any]
) -> None:
    """400."""
    path = edge.url("store", "recommendations/queries")
    answer = await edge.client.post(path, json=body, headers={"x-api-key": acme.publishable})
    assert answer.status_code == 400


@pytest.mark.parametrize("joined", ["IN", "OR"])
async def test_ten_thousand_values_are_one_filter(edge: RunningEdge, acme: Shop, joined: str) -> None:
    """As a list and as a chain. Source: marqo-api, limits."""
    names = [f"product-{number:06d}" for number in range(9_999)] + ["dome"]
    text = f"_id IN ({', '.join(names)})" if joined == "IN" else " OR ".join(f"_id:{name}" for name in names)
    answer = await edge.client.post(
        edge.url("store", "search"),
        json={"q": "tent", "filter": text},
        headers={"x-api-key": acme.publishable},
    )
    assert [hit["_id"] for hit in answer.json()["hits"]] == ["dome"]


async def test_documents_are_changed_by_jobs(edge: RunningEdge, acme: Shop) -> None:
    """Accepted at once, done behind it; a bad document is its own item. Source: marqo-api, 2.2."""
    headers = {"x-api-key": acme.secret}
    documents = [{"_id": "mug", "productTitle": "Tin cup"}, {"productTitle": "no id"}, "text"]
    path = edge.url("store", "documents")
    added = await _finished(
        edge, acme, await edge.client.post(path, json={"documents": documents}, headers=headers)
    )
    assert (added["kind"], added["status"]) == ("add_documents", "done")
    assert [item["status"] for item in added["items"]] == [200, 400, 400]
    assert "field '_id'" in added["items"][1]["message"]
    asked = {"documentIds": ["mug", "dome"]}
    found = await edge.client.post(edge.url("store", "get-documents"), json=asked, headers=headers)
    assert found.json()["results"][0]["productTitle"] == "Tin cup"
    gone = await _finished(
        edge,
        acme,
        await edge.client.request("DELETE", path, json={"ids": ["dome", "nothing"]}, headers=headers),
    )
    assert [item["status"] for item in gone["items"]] == [200, 200]
    found = await edge.client.post(edge.url("store", "get-documents"), json=asked, headers=headers)
    assert [one["_found"] for one in found.json()["results"]] == [True, False]


@pytest.mark.parametrize(
    ("index", "key", "status"), [("store", "publishable", 403), ("nothing", "secret", 404)]
)
async def test_documents_need_the_secret_key_and_an_index(
    edge: RunningEdge, acme: Shop, index: str, key: str, status: int
) -> None:
    """A mistyped name makes no index."""
    answer = await edge.client.post(
        edge.url(index, "documents"),
        json={"documents": [{"_id": "a"}]},
        headers={"x-api-key": getattr(acme, key)},
    )
    assert answer.status_code == status


async def test_an_unknown_job_is_404(edge: RunningEdge, acme: Shop) -> None:
    """Also one whose id would be a path."""
    for name in ("documents-0", "documents-..%2F..%2Faccounts"):
        answer = await edge.client.get(edge.url("store", f"jobs/{name}"), headers={"x-api-key": acme.secret})
        assert answer.status_code == 404


async def test_a_job_that_was_accepted_is_done_after_a_restart(
    engine: EmbeddedBackend, tmp_path: Path
) -> None:
    """It is a file from the moment it is accepted."""
    stopped = DocumentJobs(tmp_path / "jobs", engine)
    job = await stopped.submit("acme", "store", "delete_documents", ["mug"])
    async with asyncio.timeout(5), open_document_jobs(tmp_path, engine) as jobs:
        await jobs.settled()
        done = await jobs.job("acme", "store", job.id)
        assert done is not None
        assert done.status == "done"
        assert [one.id for one in await jobs.jobs("acme", "store")] == [job.id]
    assert (await engine.describe("acme", "store")).documents == len(_PRODUCTS) - 1


async def test_the_jobs_of_a_worker_that_died_are_done_in_its_place_and_by_nobody_else(
    engine: EmbeddedBackend, tmp_path: Path
) -> None:
    """The first worker leaves those of the others alone, but for places that there are no more."""
    jobs_of = [DocumentJobs(tmp_path / "jobs", engine, slot=slot, workers=3) for slot in range(3)]
    left = [await jobs.submit("acme", "store", "delete_documents", ["mug"]) for jobs in jobs_of]

    async def done_by(slot: int, workers: int) -> set[str]:
        opened = open_document_jobs(tmp_path, engine, slot=slot, workers=workers)
        async with asyncio.timeout(5), opened as jobs:
            await jobs.settled()
            return {one.id for one in await jobs.jobs("acme", "store") if one.status == "done"}

    assert await done_by(1, 3) == {left[1].id}
    assert await done_by(0, 3) == {left[0].id, left[1].id}
    assert await done_by(0, 2) == {each.id for each in left}


async def test_a_job_that_fails_says_why(engine: EmbeddedBackend, tmp_path: Path) -> None:
    """And the next one is done."""
    async with asyncio.timeout(5), open_document_jobs(tmp_path, engine) as jobs:
        failing = await jobs.submit("acme", "nothing", "delete_documents", ["a"])
        following = await jobs.submit("acme", "store", "delete_documents", ["mug"])
        await jobs.settled()
        last = await jobs.job("acme", "store", following.id)
        failed = await jobs.job("acme", "nothing", failing.id)
    assert failed is not None
    assert last is not None
    assert (failed.status, last.status) == ("failed", "done")
    assert failed.items[0]["message"] == "index 'nothing' does not exist"


async def test_explain_says_which_field_and_lane_gave_a_hit_its_score(edge: RunningEdge, acme: Shop) -> None:
    """And not who is hidden: what the forced filter drops is in no figure."""
    headers = {"x-api-key": acme.secret}
    body = {"q": "dome tent", "explain": True, "filter": "price:[* TO 200]"}
    answer = (await edge.client.post(edge.url("store", "search"), json=body, headers=headers)).json()
    assert [hit["_id"] for hit in answer["hits"]] == ["dome", "tunnel"]
    first = answer["hits"][0]["_explain"]
    assert first["lanes"]["text"] > answer["hits"][1]["_explain"]["lanes"]["text"] > 0
    assert first["fields"]["title"] > 0
    assert answer["universeSize"] == 3
    asked = {"q": "dome tent", "explain": "true", "filter": "price:[* TO 200]"}
    again = await edge.client.get(edge.url("store", "search"), params=asked, headers=headers)
    assert again.json()["hits"] == answer["hits"]


async def test_an_explanation_is_not_given_unasked(edge: RunningEdge, acme: Shop) -> None:
    """It costs time, and a page has no use for it."""
    answer = await edge.client.post(
        edge.url("store", "search"), json={"q": "dome"}, headers={"x-api-key": acme.secret}
    )
    assert "_explain" not in answer.json()["hits"][0]


@pytest.mark.parametrize("price", ["12", "free", -1, True, [5], {"amount": 5}])
async def test_a_price_that_is_no_price_is_refused(edge: RunningEdge, acme: Shop, price: Any) -> None:
    """No filter by price would find the product, and no summary may name it."""
    documents = [{"_id": "cup", "productTitle": "Cup", "price": price}]
    headers = {"x-api-key": acme.secret}
    path = edge.url("store", "documents")
    job = await _finished(
        edge, acme, await edge.client.post(path, json={"documents": documents}, headers=headers)
    )
    assert job["items"][0]["status"] == 400
    assert "field 'price': must be a number of 0 or more such as 49.95, not" in job["items"][0]["message"]
