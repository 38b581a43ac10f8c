"""The plan reader: four wires, the same plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worker.llm.language_model import FunctionCall, FunctionCallEnd, ModelEvent, PartialArgument, TextDelta
from worker.planning.plan import (
    PlanDecision,
    PlanEvent,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)
from worker.planning.plan_reader import PlanReader

ROWS: list[list[Any]] = [["4 season tent", "Tents", 0.9, ""], ["down bag", "Bags", 0.8, "color:(red)"]]
PLAN = {
    "query_expansions": ROWS,
    "query_complements": ["stove"],
    "summary": "Warm.",
    "strategy": "hybrid",
}
EXPANSIONS: list[PlanEvent] = [
    QueryExpansion(query="4 season tent", label="Tents", confidence=0.9),
    QueryExpansion(query="down bag", label="Bags", confidence=0.8, filter="color:(red)"),
]
REST: list[PlanEvent] = [
    QueryComplement(query="stove"),
    SummaryDelta(text="Warm."),
    PlanDecision(strategy=Strategy.HYBRID),
]


def leaf(path: str, value: Any, *, goes_on: bool = False, name: str = "execute_search") -> PartialArgument:
    """Return one leaf of growing arguments."""
    return PartialArgument(name=name, path=path, value=value, will_continue=goes_on)


def grown() -> list[ModelEvent]:
    """Return the plan as leaves, its queries in two fragments."""
    leaves: list[ModelEvent] = []
    for at, row in enumerate(ROWS):
        path = f"$.query_expansions[{at}]"
        leaves += [leaf(f"{path}[0]", row[0][:3], goes_on=True), leaf(f"{path}[0]", row[0][3:], goes_on=True)]
        leaves += [leaf(f"{path}[{slot}]", row[slot]) for slot in (1, 2, 3)]
    return [
        *leaves,
        leaf("$.query_complements[0]", "stove"),
        leaf("$.summary", "Warm."),
        leaf("$.strategy", "hybrid"),
        FunctionCallEnd(),
    ]


def keyed(name: str) -> list[ModelEvent]:
    """Return the rows as leaves of one call per category."""
    events: list[ModelEvent] = []
    for row in ROWS:
        for key, value in zip(("query", "label", "confidence", "filter"), row, strict=True):
            events.append(leaf(f"$.{key}", value, name=name))
        events.append(FunctionCallEnd())
    return events


def read(events: list[ModelEvent]) -> tuple[list[PlanEvent], tuple[str, ...]]:
    """Return the plan events and warnings of model events."""
    reader = PlanReader()
    plan = [part for event in events for part in reader.read(event)]
    return [*plan, *reader.close()], reader.fields.warnings


def category(row: list[Any]) -> FunctionCall:
    """Return one category's call."""
    args = dict(zip(("query", "label", "confidence", "filter"), row, strict=True))
    return FunctionCall(name="search_category", args=args)


WIRES: dict[str, tuple[list[ModelEvent], bool]] = {
    "JSON text": ([TextDelta(text=piece) for piece in json.dumps(PLAN)], True),
    "whole call": ([FunctionCall(name="execute_search", args=dict(reversed(PLAN.items())))], True),
    "whole call, lists as strings": (
        [FunctionCall(name="execute_search", args=PLAN | {"query_expansions": json.dumps(ROWS)})],
        True,
    ),
    "parallel calls": ([category(row) for row in ROWS], False),
    "growing arguments": (grown(), True),
    "growing parallel calls": (keyed("search_category"), False),
}


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_gives_the_same_plan(wire: str) -> None:
    """The flow cannot tell by which wire a plan came. Source: design, model."""
    events, has_rest = WIRES[wire]
    plan, warnings = read(events)
    rest = [event for event in plan if not isinstance(event, QueryExpansion)]
    assert [event for event in plan if isinstance(event, QueryExpansion)] == EXPANSIONS
    assert sorted(map(repr, rest)) == (sorted(map(repr, REST)) if has_rest else [])
    assert warnings == ()


def test_a_growing_expansion_is_out_with_its_fourth_element() -> None:
    """The slot that is always there saves waiting for the next expansion's first leaf."""
    reader = PlanReader()
    path = "$.query_expansions[0]"
    assert reader.read(leaf(f"{path}[0]", "down bag")) == []
    assert reader.read(leaf(f"{path}[1]", "Bags")) == []
    assert reader.read(leaf(f"{path}[2]", 0.8)) == []
    assert reader.read(leaf(f"{path}[3]", "color:(red)")) == [EXPANSIONS[1]]


def test_a_growing_expansion_without_a_fourth_element_is_out_with_the_next() -> None:
    """A leaf of a later expansion, another member or the call's end closes it."""
    for closing in (
        leaf("$.query_expansions[1][0]", "x"),
        leaf("$.strategy", "hybrid"),
        FunctionCallEnd(),
    ):
        reader = PlanReader()
        for slot, value in enumerate(["4 season tent", "Tents", 0.9]):
            assert reader.read(leaf(f"$.query_expansions[0][{slot}]", value)) == []
        assert reader.read(closing) == [EXPANSIONS[0]]


@pytest.mark.parametrize(
    "path",
    ["", "$", "query_expansions", "$.query_expansions[99][0]", "$.query_expansions[0]", "$..x", "$[0]"],
)
def test_a_path_that_cannot_be_followed_is_counted(path: str) -> None:
    """No path raises, whatever it says."""
    reader = PlanReader()
    assert reader.read(leaf(path, "x")) == []
    assert reader.fields.warnings == ("malformed_argument=1",)


def test_a_leaf_of_an_expansion_that_is_out_is_counted() -> None:
    """What was searched for is not changed behind the shopper's back."""
    reader = PlanReader()
    for slot, value in enumerate(ROWS[0]):
        reader.read(leaf(f"$.query_expansions[0][{slot}]", value))
    assert reader.read(leaf("$.query_expansions[0][3]", " AND x")) == []
    assert reader.fields.warnings == ("late_argument=1",)


def test_a_summary_in_growing_arguments_streams() -> None:
    """Each fragment is a delta of its own."""
    reader = PlanReader()
    assert reader.read(leaf("$.summary", "War", goes_on=True)) == [SummaryDelta(text="War")]
    assert reader.read(leaf("$.summary", "m.")) == [SummaryDelta(text="m.")]


def test_an_unknown_function_is_counted() -> None:
    """A call to something else plans nothing."""
    assert read([FunctionCall(name="order_pizza", args={})]) == ([], ("unknown_function=1",))


def test_small_talk_beside_a_call_is_not_a_plan() -> None:
    """Text that comes with a call does not count as a missing plan."""
    plan, warnings = read([TextDelta(text="Let me search."), category(ROWS[0])])
    assert (plan, warnings) == (EXPANSIONS[:1], ())


def test_a_whole_call_is_read_strategy_first_then_its_rows() -> None:
    """The strategy says how the rows are searched. Source: docs/decisions, strategy first."""
    plan, _ = read([FunctionCall(name="execute_search", args=PLAN)])
    assert plan[:3] == [PlanDecision(strategy=Strategy.HYBRID), *EXPANSIONS]


TABLES: dict[str, Any] = {
    "a table by number": {str(at): {"query": row[0], "label": row[1]} for at, row in enumerate(ROWS)},
    "a table of rows": {row[1]: row for row in ROWS},
    "a table as text": json.dumps({row[1]: row for row in ROWS}),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_for_the_list_holds_its_expansions(table: str) -> None:
    """What stands in it is read; its keys are not."""
    events, _ = read([FunctionCall(name="execute_search", args={"query_expansions": TABLES[table]})])
    assert [(each.query, each.label) for each in events if isinstance(each, QueryExpansion)] == [
        ("4 season tent", "Tents"),
        ("down bag", "Bags"),
    ]


def test_one_expansion_for_the_list_is_the_list() -> None:
    """A model that has one idea may leave the brackets out."""
    args = {"query_expansions": {"query": "down bag", "label": "Bags", "confidence": 0.8}}
    assert read([FunctionCall(name="execute_search", args=args)])[0] == [
        QueryExpansion(query="down bag", label="Bags", confidence=0.8)
    ]


def test_a_function_may_be_called_by_where_it_comes_from() -> None:
    """`default_api.execute_search` is what models write who think in modules."""
    for name in ("default_api.execute_search", "default_api:execute_search"):
        assert read([FunctionCall(name=name, args=PLAN)])[0] == [REST[2], *EXPANSIONS, *REST[:2]]


def test_a_label_that_nobody_can_see_is_the_query() -> None:
    """Zero-width characters are no name, and none of them turns the line around what follows."""
    rows = [
        ["tent", "\u200b\ufeff\u2060", 0.9],
        ["bag", "\u202eBags\u200e", 0.8],
        ["pad", "\u200d\u200c", 0.7],
        ["stove", "\U0001f468\u200d\U0001f469 stoves", 0.6],
        ["\u200b\u00ad", "Nothing", 0.5],
    ]
    events, warnings = read([FunctionCall(name="execute_search", args={"query_expansions": rows})])
    assert [(each.query, each.label) for each in events if isinstance(each, QueryExpansion)] == [
        ("tent", "tent"),
        ("bag", "Bags"),
        ("pad", "pad"),
        ("stove", "\U0001f468\u200d\U0001f469 stoves"),
    ]
    assert warnings == ("label_defaulted=2", "empty_query=1")


def test_a_confidence_of_minus_nothing_is_nothing() -> None:
    """A shopper's page is not sent a signed zero."""
    (event,), _ = read(
        [FunctionCall(name="execute_search", args={"query_expansions": [["tent", "T", -0.0]]})]
    )
    assert isinstance(event, QueryExpansion)
    assert str(event.confidence) == "0.0"


def test_growing_complements_keep_their_order_beyond_nine() -> None:
    """The tenth stands behind the second."""
    leaves: list[ModelEvent] = [leaf(f"$.query_complements[{at}]", f"query {at}") for at in range(11)]
    offered = [each.query for each in read(leaves)[0] if isinstance(each, QueryComplement)]
    assert offered == [f"query {at}" for at in range(10)]


def test_a_growing_summary_ends_somewhere() -> None:
    """A model that writes for ever does not fill the answer."""
    events, _ = read([leaf("$.summary", "warm " * 1000) for _ in range(50)])
    assert sum(len(each.text) for each in events if isinstance(each, SummaryDelta)) == 16_384
