"""The cache's part of the metrics, from what it counts of itself."""

from __future__ import annotations

from cache.snapshot import CacheSnapshot
from worker.observe.metric_families import Family, Labels, counter, gauge


def cache_families(cache: CacheSnapshot) -> list[Family]:
    """Return what each tier said, and how the negative filter does."""
    lookups: dict[Labels, float] = {("filter", "negative"): float(cache.filter.negatives)}
    for verdict, count in cache.filter.maybes.items():
        lookups["filter", str(verdict)] = float(count)
    failures: dict[Labels, float] = {}
    for tier in (cache.edge, cache.table):
        lookups[tier.name, "hit"] = float(tier.hits)
        lookups[tier.name, "stale"] = float(tier.stale)
        for outcome, count in tier.misses.items():
            lookups[tier.name, str(outcome)] = float(count)
        for outcome, count in tier.errors.items():
            failures[tier.name, str(outcome)] = float(count)
    values: dict[Labels, float] = {
        (kind, outcome): float(count)
        for kind, counts in cache.values.items()
        for outcome, count in counts.items()
    }
    stores: dict[Labels, float] = {(result,): float(count) for result, count in cache.stores.items()}
    return [
        counter("aisle_cache_lookups_total", "What each tier said.", lookups, ("tier", "result")),
        counter("aisle_cache_failures_total", "Calls to a tier that failed.", failures, ("tier", "kind")),
        counter("aisle_cache_values_total", "Lookups of other values.", values, ("kind", "result")),
        counter("aisle_cache_stores_total", "What became of answers to keep.", stores, ("result",)),
        *_filter(cache),
        gauge(
            "aisle_cache_breaker_open",
            "Tiers that are not asked because they failed.",
            {
                (f"{tier.name}_{calls}",): float(is_open)
                for tier in (cache.edge, cache.table)
                for calls, is_open in (("reads", tier.reads_open), ("writes", tier.writes_open))
            },
            ("calls",),
            merge="max",
        ),
        gauge(
            "aisle_cache_edge_bytes",
            "What the edge cache holds here.",
            {(): float(cache.edge.bytes_used or 0)},
        ),
    ]


def _filter(cache: CacheSnapshot) -> list[Family]:
    found = cache.filter
    return [
        counter(
            "aisle_cache_filter_false_positives_total",
            "Lookups that the filter let through for nothing.",
            {(): float(found.false_positives)},
        ),
        gauge(
            "aisle_cache_filter_age_seconds",
            "Age of the oldest filter in use.",
            {(): found.oldest_seconds or 0.0},
            merge="max",
        ),
        gauge(
            "aisle_cache_filter_behind_seconds",
            "How old the news of other processes is.",
            {(): found.behind_seconds or 0.0},
            merge="max",
        ),
        gauge("aisle_cache_filter_keys", "Keys in the filters.", {(): float(found.keys)}, merge="max"),
    ]
