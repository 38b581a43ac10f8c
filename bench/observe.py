"""What observing costs: CPU per request for timing, the record, the log line and the metrics; and `/metrics`.

`python -m bench.observe`. The first rows are the CPU of one process without a server, each part by itself and
all together; the last that of the event loop's thread for the text of a busy server's metrics.
"""

from __future__ import annotations

import logging
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from worker.logs import JsonFormatter
from worker.observe.completion import Completion
from worker.observe.exposition import exposition
from worker.observe.line_writer import LineWriter
from worker.observe.metric_families import Family, merged, of_worker
from worker.observe.observers import Observers, write_log_line
from worker.observe.process_metrics import process_families
from worker.observe.request_metrics import MODEL_FAILURES, RequestMetrics
from worker.timing import Stage, Timings

ROUNDS = 15
REQUESTS = 1500
LIMIT_US = 60.0
LIMIT_MS = 5.0

_STAGES = (
    Stage.INITIAL_MARQO_SEARCH,
    Stage.CACHED_QUERY_LOOKUP,
    Stage.LLM_FIRST_CALL,
    *(Stage.CATEGORY_SEARCH_TOTAL,) * 5,
    Stage.LLM_SECOND_CALL,
)


def timed() -> Timings:
    """Time a request of five categories, as the flow does."""
    timings = Timings()
    timings.mark(Stage.TIME_TO_FIRST_EVENT)
    for stage in _STAGES:
        with timings.measure(stage):
            pass
    timings.mark(Stage.TIME_TO_FIRST_HITS)
    timings.mark(Stage.TIME_TO_FIRST_CATEGORY)
    return timings


def completion(timings: Timings) -> Completion:
    """Return the record of an answer by the model."""
    return Completion(
        event="agentic_search_completed",
        source="llm",
        outcome="ok",
        account="demo",
        index="demo",
        request_id="a" * 24,
        run_id="b" * 24,
        timings=timings.milliseconds(),
        starts=timings.starts(),
        query_hash="c" * 16,
        strategy="hybrid",
        model="gemini-3.5-flash-lite",
        prompt_version=3,
        settings_version=12,
        cache={"hit": False, "tier": None, "reason": "never_stored", "steps": ["edge=miss", "filter=absent"]},
        categories=5,
        category_errors=0,
        total_hits=120,
        filters_dropped=1,
        ungrounded_links=0,
        tokens={"input": 1900, "output": 310, "thoughts": 0, "cached": 0},
    )


def cpu_us(work: Callable[[], object], settle: Callable[[], None]) -> list[float]:
    """Return the CPU of the whole process for one call of `work`, in µs, round by round."""
    for _ in range(REQUESTS):
        work()
    settle()
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(REQUESTS):
            work()
        settle()
        rounds.append((time.process_time() - began) / REQUESTS * 1e6)
    return rounds


def busy_families() -> list[Family]:
    """Return the families of a process that has seen everything."""
    metrics = RequestMetrics()
    plain = completion(timed())
    for path in ("agentic_search_completed", "converse_completed", "search_completed"):
        for source in ("llm", "cached", "catalog", "short_query_bypass"):
            for outcome in ("ok", "degraded", "error", "canceled"):
                for kind in MODEL_FAILURES:
                    warnings = [f"model_failed:{kind}:m"]
                    seen = replace(plain, event=path, source=source, outcome=outcome, error=kind)
                    metrics.observe(replace(seen, degraded=kind, warnings=warnings))
    return [*metrics.families(), *process_families(time.time())]


def main() -> None:
    """Measure and print."""
    writer = LineWriter(os.open(os.devnull, os.O_WRONLY))
    writer.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [writer]
    root.setLevel(logging.INFO)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    metrics, ready, record = RequestMetrics(), timed(), completion(timed())
    observers = Observers()
    observers.add("log", write_log_line)
    observers.add("metrics", metrics.observe)
    parts: dict[str, Callable[[], object]] = {
        "timing of 9 spans and 3 moments": timed,
        "the record": lambda: completion(ready),
        "log line, its thread included": lambda: write_log_line(record),
        "metrics": lambda: metrics.observe(record),
        "all together": lambda: observers.observe(completion(timed())),
    }
    print(f"{'per request':<34}{'median':>10}{'p99':>10}   limit")
    for name, work in parts.items():
        rounds = sorted(cpu_us(work, writer.flush))
        limit = f"{LIMIT_US:>5.0f} µs" if name == "all together" else ""
        print(f"{name:<34}{statistics.median(rounds):>7.1f} µs{rounds[-1]:>7.1f} µs   {limit}")
    _scrapes()


def _scrapes() -> None:
    families = busy_families()
    portable = [family.to_json() for family in families]
    for workers in (1, 4):
        rounds = []
        for _ in range(60):
            parts = [[Family.from_json(dict(each)) for each in portable]]
            began = time.thread_time()
            parts += [[Family.from_json(dict(each)) for each in portable] for _ in range(workers - 1)]
            if workers > 1:
                parts = [[of_worker(family, slot) for family in part] for slot, part in enumerate(parts)]
            text = exposition(merged(parts))
            rounds.append((time.thread_time() - began) * 1000)
        rounds = sorted(rounds[10:])
        lines = text.count(b"\n")
        name = f"/metrics, {workers} worker{'s' * (workers > 1)}, {lines} lines"
        print(f"{name:<34}{statistics.median(rounds):>7.2f} ms{rounds[-1]:>7.2f} ms   {LIMIT_MS:>5.0f} ms")


if __name__ == "__main__":
    main()
