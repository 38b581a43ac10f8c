"""Review summaries and their jobs over HTTP; the gateway asks for the account's secret key."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from search_proxy.caller import Caller
from search_proxy.document_jobs import DocumentJob, DocumentJobs
from worker.errors import InvalidRequest, NotFound
from worker.replies import json_response
from worker.reviews_jobs import Job, JobKind, Review, ReviewWork
from worker.reviews_payload import DeleteReviews, StoreReviews, read_reviews_body
from worker.routes import caller_of, page_of, query_parameters, read_body, services_of
from worker.services import Services

router = APIRouter(prefix="/api/v1/indexes/{index}")

MAX_JOBS = 100

MAX_BODY_BYTES = 2 * 1024 * 1024
"""100 summaries of 4,000 characters, in any script."""

_Services = Annotated[Services, Depends(services_of)]
_Caller = Annotated[Caller, Depends(caller_of)]


@router.post("/agentic-search/reviews")
async def post_reviews(index: str, request: Request, services: _Services, caller: _Caller) -> Response:
    """Accept summaries to store; the job says later which documents the index does not have."""
    asked = read_reviews_body(await read_body(request, MAX_BODY_BYTES), StoreReviews)
    stored = tuple(Review(id=each.id, summary=each.summary) for each in asked.documents)
    return await _accept(services, caller, index, "store_reviews", ReviewWork(stored=stored))


@router.delete("/agentic-search/reviews")
async def delete_reviews(index: str, request: Request, services: _Services, caller: _Caller) -> Response:
    """Accept summaries to delete."""
    asked = read_reviews_body(await read_body(request, MAX_BODY_BYTES), DeleteReviews)
    return await _accept(
        services, caller, index, "delete_reviews", ReviewWork(deleted=tuple(asked.document_ids))
    )


@router.get("/agentic-search/reviews")
async def get_reviews(index: str, request: Request, services: _Services, caller: _Caller) -> Response:
    """List the stored summaries by document id."""
    limit, offset = page_of(query_parameters(request))
    found, total = await services.reviews.list(caller.account_id, index, limit=limit, offset=offset)
    rows = [{"_id": each.id, "summary": each.summary, "updatedAt": each.updated_at} for each in found]
    return json_response({"documents": rows, "total": total, "limit": limit, "offset": offset})


@router.get("/jobs")
async def get_jobs(index: str, request: Request, services: _Services, caller: _Caller) -> Response:
    """List the index's last 100 jobs, of reviews and of documents alike, newest first."""
    jobs: list[Job | DocumentJob] = [*await services.reviews.jobs(caller.account_id, index)]
    documents: DocumentJobs | None = request.app.state.document_jobs
    if documents is not None:
        jobs += await documents.jobs(caller.account_id, index)
    jobs.sort(key=lambda job: job.created_at, reverse=True)
    return json_response({"jobs": [job.to_wire() for job in jobs[:MAX_JOBS]]})


@router.get("/jobs/{job_id}")
async def get_job(index: str, job_id: str, services: _Services, caller: _Caller) -> Response:
    """Say how a job went."""
    job = await services.reviews.job(caller.account_id, index, job_id)
    if job is None:
        raise NotFound(f"job {job_id[:80]!r} does not exist")
    return json_response(job.to_wire())


async def _accept(
    services: Services, caller: Caller, index: str, kind: JobKind, work: ReviewWork
) -> Response:
    doubled = next((each for each in work.ids if work.ids.count(each) > 1), None)
    if doubled is not None:
        raise InvalidRequest(f"document {doubled!r} is given more than once")
    job = await services.reviews.submit(caller.account_id, index, kind, work)
    return json_response({"jobId": job.id}, 202)
