"""Routes that change a catalog, for the account's secret key: documents in, documents out, and how it went.

A change is a job: it is accepted at once and done behind the answer, in the order in which jobs came.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from search_proxy.document_jobs import ID_PREFIX, DocumentJobs, JobKind
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_errors import Refusal, json_response
from search_proxy.gateway_routes import body_schema, within_search_time
from search_proxy.search_payload import Payload, read_payload

MAX_DOCUMENTS = 10_000
"""Per job; the body's limit of 16 MiB comes first for most catalogs."""


class DocumentsPayload(Payload):
    """The body of `POST documents`; what is wrong with a document becomes that document's item."""

    documents: list[Any] = Field(min_length=1, max_length=MAX_DOCUMENTS)


class DeletePayload(Payload):
    """The body of `DELETE documents`."""

    ids: tuple[Annotated[str, Field(min_length=1, max_length=512)], ...] = Field(
        min_length=1, max_length=MAX_DOCUMENTS
    )


def document_routes() -> APIRouter:
    """Return `POST documents`, `DELETE documents` and `GET jobs/documents-...`."""
    router = APIRouter(prefix="/api/v1/indexes/{index}", tags=["catalog"])
    router.add_api_route(
        "/documents",
        _post,
        methods=["POST"],
        summary="Add or replace documents",
        openapi_extra=body_schema(DocumentsPayload),
    )
    router.add_api_route(
        "/documents",
        _delete,
        methods=["DELETE"],
        summary="Delete documents",
        openapi_extra=body_schema(DeletePayload),
    )
    router.add_api_route(
        "/jobs/" + ID_PREFIX + "{number}", _job, methods=["GET"], summary="Say how a job went"
    )
    return router


async def _post(index: str, request: Request) -> Response:
    # Megabytes of JSON are read in a thread, so that no stream waits for them.
    payload = await asyncio.to_thread(read_payload, await request.body(), DocumentsPayload)
    return await accept_job(index, request, "add_documents", payload.documents)


async def _delete(index: str, request: Request) -> Response:
    ids = read_payload(await request.body(), DeletePayload).ids
    return await accept_job(index, request, "delete_documents", list(dict.fromkeys(ids)))


async def _job(index: str, number: str, request: Request) -> Response:
    job = await _jobs(request).job(request.state.caller.account_id, index, ID_PREFIX + number)
    if job is None:
        raise Refusal(404, f"job {(ID_PREFIX + number)[:80]!r} does not exist")
    return json_response(job.to_wire())


async def accept_job(index: str, request: Request, kind: JobKind, work: list[Any]) -> Response:
    """Answer 202 with the id of the job that does `work` in the index behind the answer.

    Raises:
        Refusal: Nothing can be changed over HTTP here.
    """
    edge: EdgeServices = request.state.edge
    jobs = _jobs(request)
    # An index is made where its language is said; a mistyped name must not make another one.
    await within_search_time(edge, edge.search.describe_index(request.state.caller, index))
    job = await jobs.submit(request.state.caller.account_id, index, kind, work)
    return json_response({"jobId": job.id}, 202)


def _jobs(request: Request) -> DocumentJobs:
    edge: EdgeServices = request.state.edge
    if edge.document_jobs is None:
        raise Refusal(503, "documents cannot be changed over HTTP here; use the command line")
    return edge.document_jobs
