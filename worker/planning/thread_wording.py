"""Says in words what the thread searches for: "backpacks, in blue, without polyester, under 80"."""

from __future__ import annotations

from worker.planning.catalog_labels import category_label
from worker.planning.catalog_vocabulary import Vocabulary
from worker.planning.thread_state import ThreadState

_PREPOSITIONS = {"colour": "in ", "brand": "from ", "size": "in size ", "audience": "for "}


def describe(state: ThreadState, vocabulary: Vocabulary) -> str:
    """Return a short phrase for everything that the thread demands."""
    categories = [each.words for each in state.constraints if each.role == "category" and each.wanted]
    topic = state.query or " and ".join(category_label(name) for name in categories) or "products"
    if state.like is not None:
        topic = f"products like {state.like.title or state.like.id}"
    parts = [topic]
    wanted: dict[str, list[str]] = {}
    unwanted: list[str] = []
    for each in state.constraints:
        if each.role in {"category", "product"}:
            continue
        if each.wanted:
            wanted.setdefault(each.role, []).append(each.words.removesuffix("'s"))
        else:
            without = each.role in {"material", "text"}
            unwanted.append(f"without {each.words}" if without else f"not {each.words}")
    for role, words in sorted(wanted.items(), key=lambda entry: entry[0] == "stock"):
        parts.append("in stock" if role == "stock" else f"{_PREPOSITIONS.get(role, '')}{' or '.join(words)}")
    parts += unwanted
    price = _price(state.price_min, state.price_max)
    return ", ".join([*parts, price] if price and vocabulary.roles.price else parts)


def _price(lower: float | None, upper: float | None) -> str:
    above = None if lower is None else _bound(lower, -0.01, "over", "from")
    below = None if upper is None else _bound(upper, 0.01, "under", "up to")
    return " and ".join(part for part in (above, below) if part is not None)


def _bound(value: float, step: float, exclusive: str, inclusive: str) -> str:
    """Say 49.99 as "under 50" and 72.94 as "under 72.95": limits in cents are the open ones."""
    if value == int(value):
        return f"{inclusive} {int(value)}"
    open_end = round(value + step, 2)
    return f"{exclusive} {int(open_end)}" if open_end == int(open_end) else f"{exclusive} {open_end:.2f}"
