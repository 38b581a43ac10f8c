"""An hour of a shop's requests and some weeks of its tokens, made up: for pictures of the operations page."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from tests.worker.tail.completions import completion
from worker.observe.completion import Completion, hashed

DAYS = 18
MODEL = "gemini-3.5-flash-lite"
_QUERIES = (
    "something warm for a winter camping trip",
    "a wedding gift for two people who love to cook",
    "make a small balcony a nice place to sit",
    "light for the tent and the table outside",
    "boots that survive a wet autumn",
    "what goes with a linen sofa",
    "a quiet desk for a small room",
    "presents under 30 for a gardener",
)


def past_requests(now: float, minutes: int = 60, seed: int = 4) -> Iterator[Completion]:
    """Yield requests that ended in the last minutes, oldest first, as a shop at noon would have them."""
    chance = random.Random(seed)
    for minute in range(minutes, 0, -1):
        busy = 9 + 5 * math.sin(minute / 9) + chance.gauss(0, 1.5)
        for _ in range(max(1, round(busy))):
            yield _request(chance, now - 60 * minute + chance.uniform(0, 59), number=chance.randrange(10**9))


def past_days(now: float, days: int = DAYS, seed: int = 5) -> Iterator[Completion]:
    """Yield one completion a day with that day's tokens; no shopper waited for them."""
    chance = random.Random(seed)
    for day in range(days, 0, -1):
        millions = 1.6 + 0.5 * math.sin(day / 1.1) + chance.gauss(0, 0.15)
        tokens = {
            "input": int(millions * 1e6),
            "output": int(millions * 2.1e5),
            "thoughts": int(millions * 0.4e5),
            "cached": int(millions * 3e5),
        }
        yield completion(account="demo", purpose="offline", model=MODEL, tokens=tokens, at=now - 86_400 * day)


def _request(chance: random.Random, at: float, number: int) -> Completion:
    source = chance.choices(("llm", "cached", "short_query_bypass", "search"), (34, 30, 16, 20))[0]
    query = chance.choice(_QUERIES)
    facts: dict[str, Any] = {"source": source, "index": "demo", "account": "demo", "at": at}
    facts |= {"run_id": f"{number:09x}", "request_id": f"{number:09x}", "prompt_version": "p3"}
    facts |= {"query": query if chance.random() < 0.7 else None, "query_hash": hashed(query)}
    first = chance.lognormvariate(1.6, 0.4)
    stages = {"INITIAL_MARQO_SEARCH": (0.4, first)}
    if source == "search":
        return completion(**facts, event="search_completed", timings={"E2E": round(first, 1)}, starts=None)
    if source == "short_query_bypass":
        return completion(**facts, **_timed(stages, first + 1.5), cache=None)
    stages["CACHED_QUERY_LOOKUP"] = (0.5, chance.lognormvariate(0.3, 0.5))
    if source == "cached":
        search = chance.lognormvariate(3.0, 0.3)
        stages["CATEGORY_SEARCH_TOTAL"] = (2.5, search)
        tier = chance.choices(("edge", "table"), (3, 1))[0]
        return completion(
            **facts, **_timed(stages, search + 4), cache={"hit": True, "tier": tier}, cache_tier=tier
        )
    return completion(**(facts | _modelled(chance, stages)))


def _modelled(chance: random.Random, stages: dict[str, tuple[float, float]]) -> dict[str, Any]:
    plan, summary = chance.lognormvariate(6.3, 0.35), chance.lognormvariate(6.4, 0.3)
    stages["LLM_FIRST_CALL"] = (3.0, plan)
    stages["CATEGORY_SEARCH_TOTAL"] = (3.0 + plan * 0.4, plan * 0.62)
    stages["LLM_SECOND_CALL"] = (4.0 + plan, summary)
    reason = chance.choices(("never_stored", "not_stored", "table_outdated", "session"), (9, 4, 3, 2))[0]
    cache = {"hit": False, "reason": reason}
    ended = chance.choices(("ok", "canceled", "degraded", "error"), (88, 5, 5, 2))[0]
    tokens = {"input": 2100 + chance.randrange(900), "output": 240 + chance.randrange(160), "thoughts": 40}
    facts = _timed(stages, plan + summary + 6) | {"outcome": ended, "cache": cache}
    if ended == "degraded":
        reason = chance.choice(("timeout", "breaker_open"))
        return facts | {"source": "catalog", "degraded": reason} | _timed(stages, plan + 40)
    return facts | {"model": MODEL, "tokens": tokens | {"cached": 600}}


def _timed(stages: dict[str, tuple[float, float]], whole: float) -> dict[str, Any]:
    timings = {name: round(took, 2) for name, (_, took) in stages.items()}
    starts = {name: round(start, 2) for name, (start, _) in stages.items()}
    return {"timings": timings | {"E2E": round(whole, 2)}, "starts": starts}
