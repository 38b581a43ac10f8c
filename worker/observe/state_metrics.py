"""The part of the metrics that is read when somebody asks: what each part counts by itself, and its state."""

from __future__ import annotations

from typing import get_args

from search_proxy.edge_services import EdgeServices
from search_proxy.edge_traffic import LimitScope
from worker.observe.cache_metrics import cache_families
from worker.observe.line_writer import process_log
from worker.observe.metric_families import Family, counter, gauge
from worker.services import Services


def state_families(services: Services, edge: EdgeServices) -> list[Family]:
    """Return everything that is counted elsewhere, or is a state."""
    return [
        *cache_families(services.cache.snapshot()),
        *_model(services),
        *_runs(services),
        *_edge(edge),
        gauge(
            "aisle_worker_processes_wanted",
            "Worker processes that this server should have.",
            {(): float(services.peers.place.workers)},
            merge="max",
        ),
        counter(
            "aisle_log_lines_lost_total", "Log lines that could not be written.", {(): float(_lost_lines())}
        ),
        counter(
            "aisle_observer_failures_total",
            "Completions that a listener failed on.",
            {(name,): float(count) for name, count in services.observers.failures.items()},
            ("observer",),
        ),
    ]


def _lost_lines() -> int:
    log = process_log()
    return 0 if log is None else log.lost


def _model(services: Services) -> list[Family]:
    breakers = list(services.breakers.items())[:100]
    limit = services.budget.tokens_per_day
    return [
        gauge(
            "aisle_model_configured",
            "Whether a model is set up.",
            {(): float(services.model is not None)},
            merge="max",
        ),
        gauge(
            "aisle_model_breaker_open",
            "Models that are not asked because they failed.",
            {(name,): float(breaker.state.value != "closed") for name, breaker in breakers},
            ("model",),
            merge="max",
        ),
        gauge(
            "aisle_token_budget_tokens",
            "Tokens that an account may use a day, 0 for any number.",
            {(): float(limit or 0)},
            merge="max",
        ),
        gauge(
            "aisle_token_budget_highest_tokens",
            "What the account that used most has used today.",
            {(): float(services.budget.highest_today())},
            merge="max",
        ),
    ]


def _runs(services: Services) -> list[Family]:
    runs = services.runs
    return [
        gauge("aisle_open_streams", "Clients that a run is streamed to.", {(): float(runs.listeners)}),
        gauge("aisle_runs_active", "Runs that are working.", {(): float(runs.active)}),
        gauge("aisle_draining", "Whether a process is going down.", {(): float(runs.draining)}, merge="max"),
        counter(
            "aisle_resumes_total",
            "Clients that came back for a run.",
            {(result,): float(runs.resumes[result]) for result in ("here", "at_peer", "nothing_left")},
            ("result",),
        ),
    ]


def _edge(edge: EdgeServices) -> list[Family]:
    traffic = edge.traffic
    return [
        counter(
            "aisle_http_responses_total",
            "Answers by kind of path and status.",
            {(kind, str(status)): float(count) for (kind, status), count in traffic.responses.items()},
            ("kind", "status"),
        ),
        counter(
            "aisle_rate_limited_total",
            "Requests refused by a limit.",
            {(scope,): float(traffic.limited[scope]) for scope in get_args(LimitScope)},
            ("scope",),
        ),
        gauge(
            "aisle_settings_age_seconds",
            "Since the settings of accounts were last seen to be current.",
            {(): 0.0 if edge.office is None else edge.office.sync.age_seconds},
            merge="max",
        ),
    ]


def ready_family(is_ready: bool) -> Family:
    """Return whether this process takes requests, as a count of those that do."""
    return gauge("aisle_ready_processes", "Worker processes that take requests.", {(): float(is_ready)})
