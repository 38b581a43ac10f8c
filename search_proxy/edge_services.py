"""The parts that the gateway runs with, opened by the composition root and closed after the last request."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.prompt_preview import PromptPreviewer
from search_proxy.backend import CatalogWriter, SearchBackend
from search_proxy.binding import AgenticBinding, SearchBinding
from search_proxy.document_jobs import DocumentJobs
from search_proxy.edge_traffic import EdgeTraffic
from search_proxy.rate_limits import RateLimits, Rates
from search_proxy.search_report import OnSearch, not_observed


def _nothing_to_report() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeServices:
    """What the edge of one process needs.

    `address_limit_per_minute` holds a flood back before any key is looked at; shoppers behind one address are
    limited by their key's own rate. `demo` opens the account "demo" without a key, to this machine only.
    `on_search` is told how each plain search went. `readiness` adds its facts to `/readyz`; a fact
    `"ready": False` answers 503. Without `office` there is no admin API, and without `document_jobs` no
    changing of documents over HTTP.
    """

    accounts: AccountDirectory
    search: SearchBinding
    backend: SearchBackend
    catalog: CatalogWriter
    agentic: AgenticBinding
    office: AccountOffice | None = None
    previewer: PromptPreviewer | None = None
    document_jobs: DocumentJobs | None = None
    demo: bool = False
    rates: Rates = field(default_factory=RateLimits)
    address_limit_per_minute: int = 60_000
    search_timeout_seconds: float = 5.0
    traffic: EdgeTraffic = field(default_factory=EdgeTraffic)
    on_search: OnSearch = not_observed
    readiness: Callable[[], Mapping[str, Any]] = _nothing_to_report
    now: Callable[[], float] = time.time
