"""What tokens cost: a dated table, ours or the operator's, that says of a model it does not know nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import orjson


class PricesUnreadable(ValueError):
    """A file is no table of prices; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per million tokens by model: `input`, `cached` input, and `output`, thoughts included."""

    date: str
    currency: str
    note: str
    models: Mapping[str, Mapping[str, float]]

    def cost(self, model: str, tokens: Mapping[str, int]) -> float | None:
        """Return what these tokens cost; None for a model that is not in the table."""
        price = self.models.get(model)
        if price is None:
            return None
        cached = min(tokens.get("cached", 0), tokens.get("input", 0))
        fresh = tokens.get("input", 0) - cached
        made = tokens.get("output", 0) + tokens.get("thoughts", 0)
        millionths = fresh * price["input"] + cached * price["cached"] + made * price["output"]
        return millionths / 1_000_000


def read_prices(path: Path | None) -> Prices:
    """Return the table of a file, or the one that comes with the program.

    Raises:
        PricesUnreadable: The file is not there, or not of this form.
    """
    try:
        raw = (files(__package__) / "prices.json").read_bytes() if path is None else path.read_bytes()
        value = orjson.loads(raw)
        models = {
            str(name): {kind: _price(price[kind]) for kind in ("input", "cached", "output")}
            for name, price in value["models"].items()
        }
        return Prices(
            date=str(value["date"]),
            currency=str(value["currency"]),
            note=str(value.get("note", "")),
            models=models,
        )
    except OSError as error:
        raise PricesUnreadable(f"prices: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PricesUnreadable(
            'prices: expected {"date", "currency", "models": {NAME: {"input", "cached", "output"}}}, per'
            f" million tokens; {error!r}"
        ) from error


def _price(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{value!r} is no price")
    return float(value)
