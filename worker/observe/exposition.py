"""Writes metrics in the text format that Prometheus reads, version 0.0.4.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worker.observe.metric_families import Family, Labels

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def exposition(families: Iterable[Family]) -> bytes:
    """Return the families as text."""
    return "".join(line for family in families for line in _lines(family)).encode()


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}\n"
    yield f"# TYPE {family.name} {family.kind}\n"
    for labels, value in sorted(family.samples.items()):
        shown = _shown(family.labels, labels)
        if family.kind == "histogram":
            yield from _histogram(family, shown, value)
        else:
            yield f"{family.name}{_braces(shown)} {_number(value)}\n"


def _histogram(family: Family, shown: str, sample: list[float]) -> Iterator[str]:
    *counts, total = sample
    so_far = 0.0
    for bound, count in zip([*map(repr, family.buckets), "+Inf"], counts, strict=True):
        so_far += count
        within = f'le="{bound}"'
        yield f"{family.name}_bucket{_braces(f'{shown},{within}' if shown else within)} {_number(so_far)}\n"
    yield f"{family.name}_sum{_braces(shown)} {_number(total)}\n"
    yield f"{family.name}_count{_braces(shown)} {_number(so_far)}\n"


def _shown(names: Labels, values: Labels) -> str:
    return ",".join(
        f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True)
    )


def _braces(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
