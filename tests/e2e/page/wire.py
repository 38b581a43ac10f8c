"""Events as a server would send them, over products of the sample store."""

from __future__ import annotations

from typing import Any

from tests.e2e.page.scripted_store import ScriptedRun, ScriptedStore

Q = "?q=something+warm+for+a+winter+camping+trip"


def hits(store: ScriptedStore, start: int, count: int) -> list[dict[str, Any]]:
    """Return some products as hits."""
    return [{**product, "_score": 1.5} for product in store.products[start : start + count]]


def category(store: ScriptedStore, name: str, start: int = 0, **more: Any) -> dict[str, Any]:
    """Return one category item."""
    item = {
        "query": name.lower(),
        "category": name,
        "confidence": 0.8,
        "totalHits": 30,
        "appliedFilter": None,
    }
    return {**item, "hits": hits(store, start, 8), **more}


def receipt(**more: Any) -> dict[str, Any]:
    """Return a receipt."""
    timings = {"E2E": 812.4, "LLM_FIRST_CALL": 402.0, "INITIAL_MARQO_SEARCH": 12.5}
    known = {"runId": "run1", "source": "llm", "promptVersion": "p3", "cacheTier": None, "model": "m"}
    return {**known, "timings": timings, "tokens": {"input": 900}, "warnings": [], **more}


def begin(run: ScriptedRun, store: ScriptedStore) -> None:
    """Send what every agentic answer starts with."""
    run.send("init", {"categories": True, "summary": True})
    run.delta(status="thinking")
    facets = {
        "color": {"rust": {"count": 4}, "moss green": {"count": 2}},
        "price": {"min": 10.0, "max": 400.0, "avg": 90.0, "sum": 900.0, "count": 10},
    }
    run.delta(hits=hits(store, 0, 12), totalHits=40, facets=facets)


def whole_answer(run: ScriptedRun, store: ScriptedStore) -> None:
    """Send a complete answer with three categories and a summary."""
    begin(run, store)
    for start, name in enumerate(("Sleeping bags", "Puffer jackets", "Winter boots")):
        run.delta(categoryHits=[category(store, name, start)])
    run.delta(queryComplements=["down sleeping bags", "thermos flasks"])
    first = store.products[3]
    run.delta(summary=f"Start with the [bag](<p:{first['_id']}>) and ")
    run.delta(summary="perhaps [warm socks](<q:merino hiking socks>).")
    run.delta(receipt=receipt())
    run.end()
