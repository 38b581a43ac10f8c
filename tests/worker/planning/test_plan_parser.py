"""The plan parser: an expansion is out when its closing bracket is in, whatever stands around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.planning.plan import (
    PlanDecision,
    PlanEvent,
    QueryComplement,
    QueryExpansion,
    Strategy,
    SummaryDelta,
)
from worker.planning.plan_fields import PlanFields
from worker.planning.plan_parser import MAX_PLAN_CHARACTERS, PlanParser

A = QueryExpansion(query="a tent", label="A", confidence=0.9)
B = QueryExpansion(query="b bag", label="B", confidence=0.8, filter="color:(red)")
C = QueryExpansion(query="c pad", label="C", confidence=0.7)
ROWS = '["a tent","A",0.9],["b bag","B",0.8,"color:(red)"],["c pad","C",0.7]'
PLAN = f'{{"query_expansions":[{ROWS}]}}'


def parse(text: str, size: int = 7, **limits: Any) -> tuple[list[PlanEvent], dict[str, int]]:
    """Return the events of `text`, fed in pieces of `size`, and what was counted."""
    fields = PlanFields(**limits)
    parser = PlanParser(fields)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return [*events, *parser.close()], dict(fields.counts)


def test_an_expansion_is_out_when_its_closing_bracket_is_in() -> None:
    """Not a character later. Source: design, model."""
    parser = PlanParser(PlanFields())
    out_at = {}
    for at, character in enumerate(PLAN):
        for event in parser.feed(character):
            out_at[event] = PLAN[: at + 1]
    assert [text[-1] for text in out_at.values()] == ["]", "]", "]"]
    assert [text.count("]") for text in out_at.values()] == [1, 2, 3]
    assert list(out_at) == [A, B, C]


@given(st.integers(min_value=1, max_value=len(PLAN)))
def test_where_the_text_is_cut_changes_nothing(size: int) -> None:
    """Every chunk size gives the same events."""
    assert parse(PLAN, size) == ([A, B, C], {})


DRESSED = {
    "fence": f"```json\n{PLAN}\n```",
    "preamble": f"Sure, here it is:\n\n{PLAN}",
    "preamble with braces": f"Using {{braces}} and [1]: {PLAN}",
    "preamble that is JSON": f"[1] {{}} {PLAN}",
    "trailing text": f"{PLAN} I hope this helps! {{",
    "second document": f"{PLAN}{PLAN}",
    "byte order mark": f"\ufeff{PLAN}",
    "bare list": f"[{ROWS}]",
    "list as string": json.dumps({"query_expansions": f"[{ROWS}]"}),
    "nested one too deep": '{"query_expansions":[[["a tent","A",0.9]],["b bag","B",0.8,"color:(red)"],'
    '["c pad","C",0.7]]}',
    "objects": json.dumps(
        {
            "query_expansions": [
                {"query": "a tent", "label": "A", "confidence": 0.9},
                {"query": "b bag", "category_label": "B", "confidence": 0.8, "filter": "color:(red)"},
                {"category": "C", "confidence": 0.7, "query": "c pad"},
            ]
        }
    ),
}


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("dress", DRESSED)
def test_what_stands_around_a_plan_is_skipped(dress: str, size: int) -> None:
    """Fences, preambles, trailers and other shapes of the same rows lose no expansion."""
    events, _ = parse(DRESSED[dress], size)
    assert events == [A, B, C]


BROKEN = {
    "NaN": '["x","X",NaN],',
    "infinity": '["x","X",1e999],',
    "huge integer": f'["x","X",{"9" * 40}],',
    "raw newline": '["x\nx","X",0.5],',
    "half a surrogate pair": '["x\\udfd5","X",0.5],',
    "raw tab": '["x\tx","X",0.5],',
}


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("breakage", BROKEN)
def test_json_that_yajl_refuses_is_read_all_the_same(breakage: str, size: int) -> None:
    """What Python can read of an element is kept, and its siblings with it."""
    events, counts = parse(f'{{"query_expansions":[{BROKEN[breakage]}{ROWS}],"summary":"ok"}}', size)
    assert [event.label for event in events if isinstance(event, QueryExpansion)] == ["X", "A", "B", "C"]
    assert events[-1] == SummaryDelta(text="ok")
    assert counts["json_repaired"] == 1


def test_what_comes_out_can_be_sent() -> None:
    """Half a surrogate pair and control characters are replaced: the stream to the shopper is UTF-8."""
    row = '["x\\udfd5\\u0000y","\\ud83cX",1,"a:(\\udc00)"]'
    text = f'{{"query_expansions":[{row}],"summary":"\\udc00s","query_complements":["\\udc00c"]}}'
    assert parse(text)[0] == [
        QueryExpansion(query="x? y", label="?X", confidence=1.0, filter="a:(?)"),
        QueryComplement(query="?c"),
        SummaryDelta(text="?s"),
    ]


def test_a_bracket_that_was_never_closed_loses_nothing() -> None:
    """The good expansions that it swallowed are given one by one."""
    events, counts = parse(f'{{"query_expansions":[[1,2,{ROWS}]],"summary":"s"}}')
    assert events == [A, B, C, SummaryDelta(text="s")]
    assert counts == {"malformed_expansion": 1}


MALFORMED = {
    "no comma": '["x" "X",0.5]',
    "trailing comma": '["x","X",0.5,]',
    "bare word": '["x",Label,0.5]',
    "odd quote": '["12" tent","X",0.5]',
    "leading dot": '["x","X",.5]',
}


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_malformed_expansion_costs_only_itself(malformed: str, place: int, size: int) -> None:
    """Its siblings on both sides arrive, and it is counted."""
    rows = ['["a tent","A",0.9]', '["b bag","B",0.8,"color:(red)"]', '["c pad","C",0.7]']
    rows.insert(place, MALFORMED[malformed])
    events, counts = parse(f'{{"query_expansions":[{",".join(rows)}],"query_complements":["p q"]}}', size)
    assert events == [A, B, C, QueryComplement(query="p q")]
    assert counts["malformed_expansion"] == 1


def test_a_sibling_of_a_malformed_expansion_is_out_at_its_bracket() -> None:
    """Recovery streams too: the last row is not awaited."""
    parser = PlanParser(PlanFields())
    assert parser.feed('{"query_expansions":[["x" "X"],["a tent","A",0.9]') == [A]


CASES: dict[str, tuple[str, list[PlanEvent], dict[str, int]]] = {
    "confidence missing": (
        '["x","X"]',
        [QueryExpansion(query="x", label="X", confidence=0.5)],
        {"confidence_defaulted": 1},
    ),
    "confidence too large": (
        '["x","X",7]',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"confidence_clamped": 1},
    ),
    "confidence negative": (
        '["x","X",-1]',
        [QueryExpansion(query="x", label="X", confidence=0.0)],
        {"confidence_clamped": 1},
    ),
    "confidence as text": ('["x","X","0.4"]', [QueryExpansion(query="x", label="X", confidence=0.4)], {}),
    "confidence as truth": (
        '["x","X",true]',
        [QueryExpansion(query="x", label="X", confidence=0.5)],
        {"confidence_defaulted": 1},
    ),
    "empty query": ('["  ","X",1]', [], {"empty_query": 1}),
    "query not text": ('[7,"X",1]', [], {"malformed_expansion": 1}),
    "element not a list": ("7", [], {"malformed_expansion": 1}),
    "label missing": (
        '["x y"]',
        [QueryExpansion(query="x y", label="x y", confidence=0.5)],
        {"label_defaulted": 1, "confidence_defaulted": 1},
    ),
    "blanks": ('[" x \\n y ","  X ",1]', [QueryExpansion(query="x y", label="X", confidence=1.0)], {}),
    "fifth element": (
        '["x","X",1,"",5]',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"extra_element": 1},
    ),
    "unknown key": (
        '{"query":"x","label":"X","confidence":1,"why":"so"}',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"unknown_key": 1},
    ),
    "filter not text": (
        '["x","X",1,{"a":1}]',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"malformed_filter": 1},
    ),
    "duplicate query": (
        '["x","X",1],["X","Y",1]',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"duplicate_query": 1},
    ),
    "duplicate label": (
        '["x","X",1],["y","x",1]',
        [QueryExpansion(query="x", label="X", confidence=1.0)],
        {"duplicate_label": 1},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_odd_expansion_is_defined_and_counted(case: str) -> None:
    """Nothing that a model writes is fatal. Source: docs/model.md."""
    rows, expected, counted = CASES[case]
    assert parse(f'{{"query_expansions":[{rows}]}}') == (expected, counted)


def test_the_seventh_expansion_is_left_out() -> None:
    """At most six categories, whatever was asked for."""
    rows = ",".join(f'["q{n}","L{n}",0.5]' for n in range(8))
    events, counts = parse(f'{{"query_expansions":[{rows}]}}', max_expansions=9)
    assert len(events) == 6
    assert counts == {"too_many_expansions": 2}


def test_filters_are_left_out_where_they_are_not_allowed() -> None:
    """A filter that nobody asked for is counted."""
    events, counts = parse(PLAN, allow_filters=False)
    assert [event.filter for event in events if isinstance(event, QueryExpansion)] == [None, None, None]
    assert counts == {"unwanted_filter": 1}


def test_the_other_members_become_their_events() -> None:
    """A decision holds all that is known so far; an unknown member or strategy is counted."""
    text = json.dumps(
        {
            "query_expansions": [],
            "query_complements": ["stove", "stove", 3],
            "strategy": "hybrid",
            "rewritten_query": "warm tent",
            "message": "Hello",
            "summary": "Warm.",
            "mood": "good",
        }
    )
    events, counts = parse(text)
    assert events == [
        QueryComplement(query="stove"),
        PlanDecision(strategy=Strategy.HYBRID),
        PlanDecision(strategy=Strategy.HYBRID, rewritten_query="warm tent"),
        PlanDecision(strategy=Strategy.HYBRID, rewritten_query="warm tent", message="Hello"),
        SummaryDelta(text="Warm."),
    ]
    assert counts == {"surplus_complement": 1, "malformed_complement": 1, "unknown_key": 1}
    assert parse('{"strategy":"guess"}') == ([], {"unknown_strategy": 1})


@pytest.mark.parametrize("cut", range(len('{"query_expansions":['), len(PLAN)))
def test_a_cut_plan_keeps_every_whole_expansion(cut: int) -> None:
    """As after MAX_TOKENS: what was complete stays, the rest is counted."""
    events, counts = parse(PLAN[:cut])
    assert events == [A, B, C][: PLAN[:cut].count("]")]
    assert counts == {"plan_cut": 1}


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "{}", "[]", "null", "7", '"text"'])
def test_an_answer_without_a_plan_is_counted(text: str) -> None:
    """Nothing is made up."""
    events, counts = parse(text)
    assert events == []
    assert counts.get("no_plan", 0) + counts.get("json_repaired", 0) == 1


def test_an_endless_answer_is_read_to_its_bound() -> None:
    """What comes after the bound is not held."""
    events, counts = parse(PLAN[:-1] + ',"summary":"' + "x" * MAX_PLAN_CHARACTERS, size=4096)
    assert events == [A, B, C]
    assert counts["plan_too_long"] == 1


@given(st.text(max_size=300), st.integers(min_value=1, max_value=40))
def test_any_text_is_survived(text: str, size: int) -> None:
    """No text raises, and a plan in front of it is whole."""
    parse(text, size)
    assert parse(PLAN + text, size)[0] == [A, B, C]
