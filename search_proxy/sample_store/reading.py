"""Reads the shop's brands and ranges from the TOML files beside this module into the words of `grammar`."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from search_proxy.sample_store.grammar import Brand, Grade, Kind, Material, Range, Size, Span

_HERE = files("search_proxy.sample_store")


def read_brands() -> tuple[Brand, ...]:
    """Return every maker, in the order of the file."""
    entries = _load(_HERE / "brands.toml")["brands"]
    return tuple(Brand(**_tuples(entry)) for entry in entries)


def read_ranges() -> tuple[Range, ...]:
    """Return every range of the shop, sorted by the name of its file."""
    paths = sorted((_HERE / "ranges").iterdir(), key=lambda path: path.name)
    return tuple(_range(_load(path)) for path in paths if path.name.endswith(".toml"))


def _load(path: Traversable) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _range(entry: dict[str, Any]) -> Range:
    materials = {key: Material(**_tuples(value)) for key, value in entry.pop("materials").items()}
    kinds = tuple(_kind(kind) for kind in entry.pop("kinds"))
    return Range(materials=materials, kinds=kinds, **_tuples(entry))


def _kind(entry: dict[str, Any]) -> Kind:
    sizes: Any = entry.pop("sizes", [])
    grades = entry.pop("grades", [{}])
    numbers = entry.pop("numbers", {})
    return Kind(
        sizes=tuple(Size(**size) for size in sizes) if isinstance(sizes, list) else sizes,
        grades=tuple(_grade(grade) for grade in grades),
        numbers={name: _span(*parts) for name, parts in numbers.items()},
        **_tuples(entry),
    )


def _grade(entry: dict[str, Any]) -> Grade:
    known = {name.name for name in fields(Grade)} - {"facts"}
    facts = {key: value for key, value in entry.items() if key not in known}
    return Grade(facts=facts, **_tuples({key: value for key, value in entry.items() if key in known}))


def _span(low: float, high: float, step: float, better: Any = "neither") -> Span:
    return Span(low=low, high=high, step=step, better=better)


def _tuples(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
