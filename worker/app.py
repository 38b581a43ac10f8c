"""Builds the ASGI application: the gateway outside, the worker's own routes behind it.

The two talk through the service bindings alone, so that they can be taken apart and run as two.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from search_proxy.document_jobs import open_document_jobs
from search_proxy.edge_services import EdgeServices
from search_proxy.embedding.background import BackgroundEmbedding, open_background_embedding
from search_proxy.errors import SearchError
from search_proxy.gateway import create_gateway
from search_proxy.mcp.http_face import McpFace, mcp_policy, mcp_router
from search_proxy.pages.routes import page_router
from worker import conversation_routes, converse_routes, reviews_routes
from worker.answer_routes import answer_routes
from worker.doctor.doctor_routes import doctor_routes
from worker.errors import WorkerError
from worker.front import WorkerFront
from worker.headless import AnswerPreviewer
from worker.observe.completed import search_completed
from worker.observe.metrics import open_metrics
from worker.observe.otlp_export import opened_otlp_export
from worker.observe.reloading import reloaded
from worker.observe.routes import observe_routes
from worker.operations.operations import opened_operations
from worker.operations.operations_routes import operations_routes
from worker.readiness import readiness
from worker.replies import http_error_response, search_error_response, worker_error_response
from worker.routes import router
from worker.services import Services
from worker.tail.followers import Followers
from worker.tail.peer_lines import answer_peers
from worker.tail.tail_routes import tail_routes
from worker.tool_parts import product_version
from worker.trace.trace_routes import trace_routes

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]


class InProcessAgenticBinding:
    """Hands the gateway's requests to the worker's application in this process."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    async def fetch(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one authenticated request."""
        await self._app(scope, receive, send)


def create_worker() -> FastAPI:
    """Return the worker's own application; what its state holds is set before its first request."""
    app = WorkerFront(title="aisle worker", openapi_url=None, docs_url=None, redoc_url=None)
    others = (converse_routes, conversation_routes, reviews_routes)
    for each in (router, *(module.router for module in others)):
        # As routes of its own: FastAPI walks through the tree of an included router for every request.
        app.router.routes.extend(each.routes)
    app.add_exception_handler(WorkerError, worker_error_response)
    app.add_exception_handler(SearchError, search_error_response)
    app.add_exception_handler(HTTPException, http_error_response)
    return app


@asynccontextmanager
async def _embedding_behind(services: Services) -> AsyncIterator[BackgroundEmbedding | None]:
    """Embed behind the searches what loads have left without a vector, where there is an embedder."""
    opened = services.embedder
    # Every process looks into the same folder; one of them is enough.
    if opened.embedder is None or not services.peers.place.is_first:
        yield None
        return
    indexes = services.settings.data_dir / "indexes"
    async with open_background_embedding(services.embeddings, indexes, on_stop=opened.stop) as job:
        yield job


def create_app(open_services: OpenServices) -> FastAPI:
    """Return the whole application; its lifespan opens and closes the services.

    `app.state.drain(seconds)` ends open runs after that time and refuses new ones.
    """
    worker = create_worker()
    mcp = McpFace(product_version())

    @asynccontextmanager
    async def open_edge() -> AsyncIterator[EdgeServices]:
        async with (
            open_services() as services,
            mcp.opened(services.toolbox, lambda caller: services.backend.list_indexes(caller.account_id)),
            _embedding_behind(services) as embedding,
            open_document_jobs(
                services.settings.data_dir,
                services.catalog,
                slot=services.peers.place.slot,
                workers=services.peers.place.workers,
            ) as document_jobs,
            open_metrics(services, product_version()) as metrics,
            opened_otlp_export(services, product_version(), metrics),
            opened_operations(services) as operations,
        ):
            worker.state.services = services
            worker.state.document_jobs = document_jobs
            app.state.followers = followers = Followers(services.observers)
            answer_peers(services.peers, followers)
            app.state.operations, app.state.recent = operations, operations.recent

            def drain(seconds: float) -> None:
                services.runs.drain(seconds)
                followers.end()

            app.state.drain = drain
            if services.model is not None:
                services.wait_until(services.model.warm_up(services.settings.model), name="warm-up-model")
            app.state.reload = lambda read: setattr(
                worker.state, "services", reloaded(worker.state.services, read)
            )
            # What start-up has made stays until the end: the collector need not look at it again.
            gc.freeze()
            edge = EdgeServices(
                accounts=services.accounts,
                office=services.office,
                previewer=AnswerPreviewer(services),
                search=services.search,
                backend=services.backend,
                catalog=services.catalog,
                document_jobs=document_jobs,
                agentic=InProcessAgenticBinding(worker),
                demo=services.settings.demo,
                rates=services.rates,
                search_timeout_seconds=services.settings.search_timeout_seconds,
                on_search=lambda report: services.observers.observe(search_completed(report)),
                readiness=readiness(services, embedding),
            )
            metrics.edge = edge
            app.state.metrics = metrics
            yield edge

    app = create_gateway(
        open_edge,
        extra_routers=[
            page_router(),
            answer_routes(lambda: worker.state.services),
            mcp_router(mcp),
            operations_routes(lambda: app.state.operations),
            doctor_routes(lambda: worker.state.services, lambda: app.state.recent),
            trace_routes(lambda: worker.state.services),
            tail_routes(lambda: worker.state.services, lambda: app.state.followers),
            observe_routes(lambda: worker.state.services, lambda: app.state.metrics, product_version()),
        ],
        extra_policies=[mcp_policy],
    )
    return app
