"""Review summaries over HTTP: accepted as a job, done soon, part of what the model reads of a product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.caller import Caller
from tests.support.scripted_gemini.scenarios import whole_call
from tests.support.shop import Shop, open_shop
from tests.support.talk import Talk
from tests.worker.test_agentic_search import modelled_shop
from worker.reviews import Reviews
from worker.reviews_jobs import Job, Review, ReviewWork
from worker.reviews_store import MAX_JOBS_PER_ACCOUNT, ReviewStore

pytestmark = pytest.mark.anyio

REVIEWS = "/api/v1/indexes/demo/agentic-search/reviews"
JOBS = "/api/v1/indexes/demo/jobs"


async def finished(shop: Shop, answer: Any) -> dict[str, Any]:
    """Return the job that an answer accepted, once it is done."""
    assert answer.status_code == 202, answer.text
    await shop.services.wait_until.settle()  # type: ignore[attr-defined]
    job: dict[str, Any] = (await shop.client.get(f"{JOBS}/{answer.json()['jobId']}")).json()
    return job


async def store(shop: Shop, **summaries: str) -> dict[str, Any]:
    """Store summaries by document id (with `_` for `-`) and return the finished job."""
    documents = [{"_id": name.replace("_", "-"), "summary": text} for name, text in summaries.items()]
    return await finished(shop, await shop.client.post(REVIEWS, json={"documents": documents}))


async def listed(shop: Shop) -> dict[str, str]:
    """Return what is stored."""
    rows = (await shop.client.get(REVIEWS)).json()["documents"]
    return {row["_id"]: row["summary"] for row in rows}


async def test_summaries_are_stored_replaced_listed_and_deleted(tmp_path: Path) -> None:
    """Each by a job that says how every document went. Source: storefront API, reviews."""
    async with open_shop(tmp_path) as shop:
        job = await store(shop, tent_1="Easy to pitch.", mug_2="Keeps warm.", no_such="Unknown.")
        assert (job["status"], job["kind"]) == ("done", "store_reviews")
        assert [item["status"] for item in job["items"]] == [200, 200, 404]
        assert await listed(shop) == {"mug-2": "Keeps warm.", "tent-1": "Easy to pitch."}
        await store(shop, tent_1="Narrow for two.")
        assert (await listed(shop))["tent-1"] == "Narrow for two."
        gone = await shop.client.request("DELETE", REVIEWS, json={"documentIds": ["tent-1", "never"]})
        assert (await finished(shop, gone))["kind"] == "delete_reviews"
        assert await listed(shop) == {"mug-2": "Keeps warm."}
        page = (await shop.client.get(REVIEWS, params={"limit": 1, "offset": 1})).json()
        assert (page["documents"], page["total"]) == ([], 1)
        kinds = [job["kind"] for job in (await shop.client.get(JOBS)).json()["jobs"]]
    assert kinds == ["delete_reviews", "store_reviews", "store_reviews"]


async def test_jobs_of_reviews_and_of_documents_are_listed_alike(tmp_path: Path) -> None:
    """One list, newest first, each job in the same shape."""
    async with open_shop(tmp_path) as shop:
        await store(shop, tent_1="Easy to pitch.")
        document = {"_id": "new-1", "productTitle": "A new tent", "price": 1.0}
        added = await shop.client.post("/api/v1/indexes/demo/documents", json={"documents": [document]})
        assert added.status_code == 202, added.text
        await store(shop, mug_2="Keeps warm.")
        jobs = (await shop.client.get(JOBS)).json()["jobs"]
    assert [job["kind"] for job in jobs] == ["store_reviews", "add_documents", "store_reviews"]
    assert jobs[1]["jobId"] == added.json()["jobId"]
    assert len({frozenset(job) for job in jobs}) == 1


async def test_a_job_of_nothing_but_unknown_documents_has_failed(tmp_path: Path) -> None:
    """The job is there and says why; one that was never made is not found."""
    async with open_shop(tmp_path) as shop:
        job = await store(shop, no_such="Unknown.")
        missing = await shop.client.get(f"{JOBS}/made-up")
    assert job["status"] == "failed"
    assert job["items"][0]["message"] == "the index has no document of that id"
    assert missing.status_code == 404


async def test_what_reviews_say_is_in_the_question_about_the_product(tmp_path: Path) -> None:
    """Of the products that the question is about and of no others. Source: flow document, reviews."""
    async with modelled_shop(tmp_path) as (shop, gemini):
        await store(shop, tent_1="Two people find it narrow.", tent_2="Loved by all.")
        gemini.script(whole_call({"query_expansions": [], "message": "Narrow for two."}))
        said = await Talk(shop.client).say("is it narrow for two people?", documentIds=["tent-1"])
        text = gemini.calls[0].body["contents"][-1]["parts"][-1]["text"]
    assert said.text == "Narrow for two."
    assert '"reviews": "Two people find it narrow."' in text
    assert "Loved by all" not in text


async def test_without_a_model_reviews_are_quoted_to_whoever_asks(tmp_path: Path) -> None:
    """As they were stored: markup is text like any other."""
    async with open_shop(tmp_path) as shop:
        await store(shop, tent_1="Easy to pitch. <b>Narrow</b> for two.")
        said = await Talk(shop.client).say("what do people say about it?", documentIds=["tent-1"])
    assert said.ids == ["tent-1"]
    assert said.text.endswith("Shoppers say: “Easy to pitch. <b>Narrow</b> for two.”")


async def test_a_job_that_a_process_left_undone_is_done_by_the_next(tmp_path: Path) -> None:
    """Accepting writes the job first, so a process may die before it is done."""
    async with open_shop(tmp_path) as shop:
        assert await listed(shop) == {}
    store_of_the_dead = ReviewStore(tmp_path / "reviews.sqlite3")
    left = Job(
        id="left",
        account_id="demo",
        index="demo",
        kind="store_reviews",
        created_at=1.0,
        work=ReviewWork(stored=(Review(id="tent-1", summary="Easy."),)),
    )
    await store_of_the_dead.add_job(left)
    await store_of_the_dead.close()
    async with open_shop(tmp_path) as shop:
        await shop.services.wait_until.settle()  # type: ignore[attr-defined]
        assert await listed(shop) == {"tent-1": "Easy."}
        assert (await shop.client.get(f"{JOBS}/left")).json()["status"] == "done"


async def test_only_so_many_jobs_are_remembered(tmp_path: Path) -> None:
    """The oldest finished ones go; what is still to be done stays."""
    kept = ReviewStore(tmp_path / "reviews.sqlite3")
    try:
        for number in range(MAX_JOBS_PER_ACCOUNT + 5):
            job = Job(
                id=str(number), account_id="a", index="i", kind="delete_reviews", created_at=float(number)
            )
            await kept.add_job(job)
            if number != 1:
                await kept.finish_job(job, (), 1.0)
        found = await kept.jobs(account_id="a", limit=10_000)
    finally:
        await kept.close()
    ids = {job.id for job in found}
    assert "1" in ids
    assert "0" not in ids
    assert len(ids) <= MAX_JOBS_PER_ACCOUNT + 1


async def test_reviews_of_an_account_are_nobody_elses(tmp_path: Path) -> None:
    """Neither the summaries nor the jobs; a file that cannot be read costs a page nothing."""
    async with open_shop(tmp_path) as shop:
        await store(shop, tent_1="Easy.")
        reviews: Reviews = shop.services.reviews
        caller = Caller(account_id="other", key_kind="secret")
        assert await reviews.summaries(caller.account_id, "demo", ["tent-1"]) == {}
        assert await reviews.jobs("other", "demo") == []
        assert await reviews.summaries("demo", "another", ["tent-1"]) == {}
        assert await reviews.summaries("demo", "demo", ["tent-1"]) == {"tent-1": "Easy."}
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"no database" * 1000)
    assert await ReviewStore(damaged).summaries("demo", "demo", ["tent-1"]) == {}


async def test_what_is_wrong_is_refused_before_there_is_a_job(tmp_path: Path) -> None:
    """At most 100 documents, each once, each with a summary. Source: storefront API, reviews."""
    good = {"_id": "tent-1", "summary": "Easy."}
    refused: list[tuple[Any, str]] = [
        ({}, "documents is required"),
        ({"documents": []}, "documents"),
        ({"documents": [good] * 101}, "documents"),
        ({"documents": [good, good]}, "document 'tent-1' is given more than once"),
        ({"documents": [{"_id": "tent-1", "summary": " \n "}]}, "documents.0.summary"),
        ({"documents": [{"_id": "tent-1"}]}, "documents.0.summary is required"),
        ({"documents": [good | {"stars": 5}]}, "stars"),
        ({"documents": [{"_id": "tent-1", "summary": "x" * 4001}]}, "documents.0.summary"),
        ([good], "the body must be a JSON object"),
    ]
    async with open_shop(tmp_path) as shop:
        for body, told in refused:
            answer = await shop.client.post(REVIEWS, json=body)
            assert (answer.status_code, told in answer.json()["message"]) == (400, True), answer.text
        nothing = await shop.client.request("DELETE", REVIEWS, json={"documentIds": []})
        assert nothing.status_code == 400
        assert (await shop.client.get(JOBS)).json() == {"jobs": []}
