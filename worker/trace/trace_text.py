"""Shows a trace to a person: what was asked, decided, said by the model, searched and sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from worker.tail.pretty import Pretty, shown

_LONGEST_ANSWER = 4000
_SHOWN_IDS = 6


def trace_text(trace: Mapping[str, Any], *, width: int, colored: bool) -> str:
    """Return the trace as lines of text."""
    return "".join(f"{line}\n" for part in _parts(trace, width, colored) for line in part)


def _parts(trace: Mapping[str, Any], width: int, colored: bool) -> Iterator[list[str]]:
    receipt, asked = trace["receipt"], trace["request"]
    whose = f"{shown(trace['account'])}/{shown(trace['index'])}"
    yield [f"run {shown(trace['runId'])} of {whose}: {trace['outcome']}"]
    yield [
        "",
        "asked",
        *_facts(asked, ("q", "filter", "limit", "maxCategories", "settingsVersion", "promptVersion")),
    ]
    if asked["rights"]["forcedFilter"] or asked["rights"]["groups"]:
        yield _facts(asked["rights"], ("forcedFilter", "groups"))
    yield ["", "cache", f"  {shown(receipt.get('cache'))}"]
    line = {"timings": receipt["timings"], "starts": trace["starts"], "outcome": trace["outcome"]}
    line |= {"source": receipt["source"], "account": trace["account"], "index": trace["index"]}
    yield ["", "time", *Pretty(width=width, colored=colored).request(line).splitlines()[1:]]
    yield ["", "decision", *_facts(trace["decision"], ("strategy", "rewrittenQuery", "message"))]
    for call in trace["calls"]:
        yield ["", *_call(call)]
    yield ["", f"searches ({len(trace['searches'])})", *map(_search, trace["searches"])]
    yield ["", "answer", *_answer(trace["answer"])]
    if receipt.get("warnings"):
        yield ["", "warnings", *(f"  {shown(each)}" for each in receipt["warnings"])]
    if trace["leftOut"]:
        yield ["", f"{trace['leftOut']} parts were over the trace's bounds and are not in it"]


def _facts(facts: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    return [f"  {name:<16}{shown(facts[name])}" for name in names if facts.get(name) not in (None, "", [])]


def _call(call: Mapping[str, Any]) -> list[str]:
    events = call["events"]
    last = events[-1] if events else None
    head = f"model {shown(call['model'])}, asked at {call['startMs']:.1f} ms"
    head += f" with {call['characters']:,} characters"
    if last is None:
        return [head, "  nothing came"]
    text = "".join(event[2] for event in events if event[1] == "text")
    others = [event for event in events if event[1] not in {"text", "argument", "call_end"}]
    lines = [f"{head}; first event at {events[0][0]:.1f} ms, {len(events)} in all, last at {last[0]:.1f} ms"]
    if text:
        lines += [f"  {shown_text(text)}"]
    return lines + [f"  {event[0]:>9.1f} ms  {event[1]} {shown(event[2:])}" for event in others]


def _search(search: Mapping[str, Any]) -> str:
    found = shown(search["error"]) if "error" in search else f"{search['total']:>6,} found"
    ids = search.get("hits", [])
    more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
    under = f"  [{shown(search['filter'])}]" if search["filter"] else ""
    listed = ", ".join(map(shown, ids[:_SHOWN_IDS]))
    return (
        f"  {search['startMs']:>9.1f} ms  {search['ms']:>7.1f} ms  {found}  {shown(search['q'])!r}{under}"
        f"  {listed}{more}"
    )


def _answer(answer: Mapping[str, Any]) -> list[str]:
    lines = [f"  source          {answer['source']}", f"  first hits      {len(answer['hits'])}"]
    for each in answer["categories"]:
        dropped = "  (its filter found nothing and was left out)" if each["filterDropped"] else ""
        under = f"  [{shown(each['appliedFilter'])}]" if each["appliedFilter"] else ""
        lines.append(
            f"  {shown(each['category'])} ({each['totalHits']}): {shown(each['query'])}{under}{dropped}"
        )
    if answer["complements"]:
        lines.append(f"  also            {shown(' · '.join(answer['complements']))}")
    if answer["summary"]:
        lines.append(f"  summary         {shown_text(answer['summary'])}")
    return lines


def shown_text(text: str) -> str:
    """Return long text as one safe line."""
    safe = "".join(char if char.isprintable() else " " for char in text)
    return safe if len(safe) <= _LONGEST_ANSWER else f"{safe[:_LONGEST_ANSWER]}… ({len(safe):,} characters)"
