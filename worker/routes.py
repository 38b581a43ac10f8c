"""The worker's HTTP routes of runs, and what all of its routes share.

Who asks is settled: the gateway has put `caller` and `settings` into the request's trusted state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from search_proxy.accounts.settings_schema import SettingsSnapshot
from search_proxy.caller import Caller
from worker.errors import InvalidRequest, NotFound, PayloadTooLarge
from worker.observe.peer_runs import PeerRunStream, WantedRun, stop_at_peer
from worker.run import Run
from worker.services import Services
from worker.sse import RunStream

router = APIRouter(prefix="/api/v1/indexes/{index}")


# These are coroutines because FastAPI sends plain functions through a thread, at more than an answer costs.
async def services_of(request: Request) -> Services:
    """Return the parts that this process runs with."""
    services: Services = request.app.state.services
    return services


async def caller_of(request: Request) -> Caller:
    """Return who the gateway says is asking."""
    caller: Caller = request.state.caller
    return caller


async def settings_of(request: Request) -> SettingsSnapshot:
    """Return the settings that the gateway read for this request."""
    snapshot: SettingsSnapshot = request.state.settings
    return snapshot


_Services = Annotated[Services, Depends(services_of)]
_Caller = Annotated[Caller, Depends(caller_of)]


@router.get("/runs/{run_id}")
async def get_run(
    index: str, run_id: str, request: Request, services: _Services, caller: _Caller
) -> Response:
    """Stream a run that is under way, from the event after `Last-Event-ID` or its beginning; else 204."""
    return resume_run(services, caller, index, request.headers.get("last-event-id") or f"{run_id}-0")


@router.delete("/runs/{run_id}")
async def delete_run(index: str, run_id: str, services: _Services, caller: _Caller) -> Response:
    """Stop a run at once, model call included."""
    run = services.runs.find(run_id, caller.account_id, caller.rights)
    wanted = WantedRun(run_id=run_id, account_id=caller.account_id, rights=caller.rights, index=index)
    if run is None and await stop_at_peer(services.peers, wanted):
        return Response(status_code=204)
    if run is None or run.index != index:
        raise NotFound(f"run {run_id!r} does not exist")
    run.stop("stopped")
    return Response(status_code=204)


def resume_run(services: Services, caller: Caller, index: str, last_event_id: str) -> Response:
    """Return the stream of a run from the event after `{runId}-{number}`, or 204 where nothing follows."""
    run_id, _, seq = last_event_id.rpartition("-")
    run = services.runs.find(run_id, caller.account_id, caller.rights)
    if run is None and services.peers.others and seq.isdecimal() and len(seq) < 10:
        wanted = WantedRun(
            run_id=run_id,
            account_id=caller.account_id,
            rights=caller.rights,
            index=index,
            after=int(seq),
        )
        return PeerRunStream(
            services.peers,
            services.runs,
            wanted,
            ping_seconds=services.settings.sse_ping_seconds,
            send_timeout_seconds=services.settings.sse_send_timeout_seconds,
        )
    if run is None or run.index != index or not seq.isdecimal() or not run.has_events_after(int(seq)):
        services.runs.resumes["nothing_left"] += 1
        # A browser takes 204 as the end; anything else would make it ask, and bill, again.
        return Response(status_code=204)
    services.runs.resumes["here"] += 1
    return stream_run(services, run, after=int(seq))


def stream_run(services: Services, run: Run, *, after: int) -> RunStream:
    """Return the stream of a run from the event after `after`."""
    settings = services.settings
    return RunStream(
        run,
        services.runs,
        after=after,
        ping_seconds=settings.sse_ping_seconds,
        send_timeout_seconds=settings.sse_send_timeout_seconds,
        headers={"x-aisle-run-id": run.id},
    )


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body.

    Raises:
        PayloadTooLarge: It has more than `max_bytes`.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise PayloadTooLarge(f"the body has more than {max_bytes} bytes")
    return bytes(body)


def query_parameters(request: Request) -> dict[str, str]:
    """Return the query string's parameters.

    Raises:
        InvalidRequest: One is given more than once.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InvalidRequest(f"{doubled!r} is given more than once")
    return dict(request.query_params)


def page_of(parameters: Mapping[str, str]) -> tuple[int, int]:
    """Return `limit` (1 to 100, by default 50) and `offset` of a list.

    Raises:
        InvalidRequest: One of them is no number of its range.
    """
    values = []
    for name, default, low, high in (("limit", 50, 1, 100), ("offset", 0, 0, 1_000_000)):
        text = parameters.get(name, str(default))
        if not text.isdecimal() or len(text) > 7 or not low <= int(text) <= high:
            raise InvalidRequest(f"{name} must be a whole number from {low} to {high}, not {text[:40]!r}")
        values.append(int(text))
    return values[0], values[1]
