"""`aisle ask`: one question from the terminal, answered as it streams.

It is a client like any other: it asks a running server, or without `--url` starts the flow in this process.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from search_proxy.caller import Caller
from search_proxy.errors import SearchError
from worker.agentic_search import AgenticSearch
from worker.command_services import CommandServices
from worker.demo import DEMO_ACCOUNT, DEMO_INDEX, load_sample_store
from worker.errors import WorkerError
from worker.events import Event, EventName
from worker.payload import read_query_parameters
from worker.request import build_request
from worker.run import Run
from worker.services import Services


def register(commands: Any) -> None:
    """Add `aisle ask`."""
    parser = commands.add_parser("ask", help="ask one question and read the answer as it comes")
    parser.add_argument("query", help="what a shopper would type")
    parser.add_argument("--index", default=DEMO_INDEX)
    parser.add_argument("--account", default=DEMO_ACCOUNT)
    parser.add_argument("--filter", help="a filter, as in the API")
    parser.add_argument("--max-categories", type=int)
    parser.add_argument("--json", action="store_true", help="print the raw events, one JSON object a line")
    parser.set_defaults(run=run_ask)


async def run_ask(args: argparse.Namespace, commanded: CommandServices) -> int:
    """Ask and print; 1 when the question could not be answered."""
    services = commanded.services
    if (args.account, args.index) == (DEMO_ACCOUNT, DEMO_INDEX):
        await load_sample_store(services)
    try:
        run = await _start(args, services)
    except (WorkerError, SearchError) as error:
        sys.stderr.write(f"aisle: {error}\n")
        return 1
    failed = False
    services.runs.subscribe(run)
    try:
        async for event in run.events():
            failed = failed or "error" in event.data
            sys.stdout.write(_as_json(event) if args.json else _as_text(event))
            sys.stdout.flush()
    finally:
        services.runs.unsubscribe(run)
    return 1 if failed else 0


async def _start(args: argparse.Namespace, services: Services) -> Run:
    caller = Caller(account_id=args.account, key_kind="secret")
    given = {"q": args.query, "filter": args.filter, "maxCategories": args.max_categories}
    payload = read_query_parameters({name: str(value) for name, value in given.items() if value is not None})
    description = await services.search.describe_index(caller, args.index)
    snapshot = services.accounts.snapshot(args.account, args.index)
    request = build_request(caller, args.index, payload, snapshot, description)
    run = Run(account_id=args.account, index=args.index)
    services.runs.start(run, AgenticSearch(services, request, run))
    return run


def _as_json(event: Event) -> str:
    return f'{{"event":"{event.name}","seq":{event.seq},"data":{event.json.decode()}}}\n'


def _as_text(event: Event) -> str:
    data = event.data
    lines: list[str] = []
    if "hits" in data:
        lines.append(f"\nFirst hits ({data['totalHits']} in all)")
        lines += [_product(hit) for hit in data["hits"][:5]]
    for item in data.get("categoryHits", []):
        dropped = "  (its filter found nothing and was left out)" if item.get("filterDropped") else ""
        lines.append(f"\n{item['category']} ({item['totalHits']}): {item['query']}{dropped}")
        lines += [_product(hit) for hit in item["hits"][:3]]
    if data.get("status") == "summarizing":
        lines.append("")
    if "queryComplements" in data:
        lines.append("\nAlso: " + " · ".join(data["queryComplements"]))
    if "error" in data:
        lines.append(f"\n{data['error']['message']}")
    if "receipt" in data:
        receipt = data["receipt"]
        lines.append(f"\n\n[{receipt['source']}, {receipt['timings']['E2E']:.0f} ms]")
    text = "".join(f"{line}\n" for line in lines)
    return text + data.get("summary", "") if event.name is EventName.DELTA else text


def _product(hit: dict[str, Any]) -> str:
    price = hit.get("price")
    shown = f"{price:>9.2f} {hit.get('currency') or ''}" if isinstance(price, int | float) else " " * 9
    return f"  {shown:<14}{hit.get('productTitle') or hit['_id']}"
