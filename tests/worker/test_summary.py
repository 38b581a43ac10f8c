"""The summary: streamed from the model over what was sent, or an honest sentence by rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.scripted_gemini import Gate, Script, ScriptedGemini
from tests.support.scripted_gemini import scenarios as s
from worker.llm.credentials import ApiKey
from worker.llm.deadlines import Deadlines
from worker.llm.gemini_request import GeminiEndpoint
from worker.llm.gemini_rest import open_gemini_rest
from worker.llm.language_model import LanguageModel
from worker.planning.plan import TokenUsage
from worker.summary import SummaryConfig, write_summary
from worker.summary_request import SummaryCategory, SummaryReport, SummaryRequest, price_text
from worker.summary_rules import rules_summary

pytestmark = pytest.mark.anyio

TENT = {"_id": "t-1", "productTitle": "Polar Tent", "price": 349, "currency": "USD"}
BAG = {"_id": "b-1", "productTitle": "Down Bag", "price": 12.5, "currency": "USD"}
REQUEST = SummaryRequest(
    query="warm camping",
    categories=(
        SummaryCategory(label="Tents", hits=(TENT,), total=40),
        SummaryCategory(label="Empty", hits=(), total=0),
        SummaryCategory(label="Sleeping Bags", hits=(BAG, TENT), total=9),
    ),
    hits=(BAG,),
    total=214,
    facets={"color": {"red": {"count": 5}}, "price": {"min": 5, "max": 900, "avg": 40.0}},
)
BY_RULES = (
    "Found 214 products. Look in Tents and Sleeping Bags, from $12.50 to $349. "
    "The best match is [Down Bag](<p:b-1>)."
)
HASTY = SummaryConfig(deadlines=Deadlines(first_event_seconds=0.25, gap_seconds=0.25, total_seconds=4.0))


@pytest.fixture
async def server() -> AsyncIterator[ScriptedGemini]:
    """Serve scripts on the loopback."""
    async with ScriptedGemini() as scripted:
        yield scripted


@asynccontextmanager
async def opened(server: ScriptedGemini) -> AsyncIterator[LanguageModel]:
    """Open a client on that server."""
    async with open_gemini_rest(GeminiEndpoint(base_url=server.base_url), ApiKey("test-key")) as model:
        yield model


def says(*pieces: str) -> Script:
    """Return a script that writes these pieces of text."""
    return s.stream(*(s.text_chunk(piece) for piece in pieces), s.finished())


async def summarise(
    server: ScriptedGemini, request: SummaryRequest = REQUEST, config: SummaryConfig | None = None
) -> tuple[list[str], SummaryReport]:
    """Return what was emitted and the report."""
    emitted: list[str] = []
    async with opened(server) as model, asyncio.timeout(5):
        report = await write_summary(model, request, emitted.append, config)
    return emitted, report


async def test_a_summary_streams_with_its_links(server: ScriptedGemini) -> None:
    """Pieces come as they are decided; the report has the whole text and the tokens."""
    server.script(says("Take the ", "[Polar Tent](<p:t", "-1>) at $349", " or <Down Bag|b-1>."))
    emitted, report = await summarise(server)
    text = "Take the [Polar Tent](<p:t-1>) at $349 or [Down Bag](<p:b-1>)."
    assert emitted[0] == "Take the "
    assert "".join(emitted) == text
    assert report == SummaryReport(
        text=text, source="llm", model="gemini-3.5-flash-lite", usage=TokenUsage(input=100, output=40)
    )


async def test_a_piece_is_emitted_before_the_next_is_written(server: ScriptedGemini) -> None:
    """The gate of the second piece is shut when the first is out."""
    gates = [Gate("first"), Gate("second")]
    server.script(s.gated_text(["Warm and dry. ", "Indeed."], gates))
    emitted: asyncio.Queue[str] = asyncio.Queue()
    async with opened(server) as model, asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(write_summary(model, REQUEST, emitted.put_nowait), name="summary")
        gates[0].open()
        assert await emitted.get() == "Warm and dry. "
        assert not gates[1].is_open
        gates[1].open()
        assert await emitted.get() == "Indeed."


async def test_the_model_sees_what_was_found_and_no_functions(server: ScriptedGemini) -> None:
    """Titles, prices and facets of what was sent, as data; no schema, no tools."""
    server.script(says("Fine."))
    await summarise(server, replace(REQUEST, system_prompt="Be brief."))
    body = server.calls[0].body
    asked = body["contents"][0]["parts"][0]["text"]
    assert not {"tools", "toolConfig"} & set(body)
    assert "responseMimeType" not in body["generationConfig"]
    assert body["systemInstruction"]["parts"][0]["text"].endswith("\nBe brief.")
    assert asked == (
        "The shopper asked: warm camping\n\n<found_products>\n"
        "214 products match the request's own words\n"
        "Each product is [id, title, price]\n"
        '"Tents": 40 products\n["t-1", "Polar Tent", "$349"]\n'
        '"Empty": 0 products\n'
        '"Sleeping Bags": 9 products\n["b-1", "Down Bag", "$12.50"]\n["t-1", "Polar Tent", "$349"]\n'
        "color: red 5\n</found_products>"
    )


async def test_what_was_found_is_budgeted(server: ScriptedGemini) -> None:
    """A hundred long titles cost no more tokens than were set."""
    hits = tuple({"_id": f"p{n}", "productTitle": "long " * 50, "price": n} for n in range(100))
    categories = tuple(SummaryCategory(label=f"C{n}", hits=hits[n * 16 :], total=16) for n in range(6))
    server.script(says("Fine."))
    await summarise(server, replace(REQUEST, categories=categories), SummaryConfig(max_found_tokens=200))
    assert len(server.calls[0].body["contents"][0]["parts"][0]["text"]) < 900


async def test_what_was_not_sent_is_made_harmless_and_counted(server: ScriptedGemini) -> None:
    """An unknown id, an invented price and raw HTML are gone, and the receipt says so."""
    server.script(says("[Yeti](<p:zz>) at $99, <b>new</b> ![i](http://x/y)"))
    emitted, report = await summarise(server)
    assert "".join(emitted) == "Yeti at (see price), new i"
    assert set(report.warnings) == {
        "unknown_product=1",
        "unknown_price=1",
        "html_removed=2",
        "image_removed=1",
    }
    assert report.ungrounded_links == 1


async def test_plain_text_is_given_where_links_are_not_wanted(server: ScriptedGemini) -> None:
    """By model and by rules."""
    server.script(says("See [Tent](<p:t-1>)."))
    emitted, _ = await summarise(server, replace(REQUEST, clickable=False))
    assert "".join(emitted) == "See Tent."
    assert "The best match is Down Bag." in rules_summary(replace(REQUEST, clickable=False))


DEAD: dict[str, tuple[Script, str]] = {
    "429": (s.rate_limited(), "rate_limited"),
    "503": (s.unavailable(), "unavailable"),
    "key": (s.bad_key(), "invalid_key"),
    "html": (s.html_502(), "unavailable"),
    "blocked": (s.blocked_prompt(), "blocked"),
    "stall": (s.stalled(), "timeout"),
    "closed": (s.hung_up(), "disconnected"),
    "early end": (s.early_eof(), "incomplete"),
}


@pytest.mark.parametrize("scenario", DEAD)
async def test_a_model_that_fails_before_its_first_word_leaves_the_rules(
    scenario: str, server: ScriptedGemini
) -> None:
    """There is always a summary."""
    script, kind = DEAD[scenario]
    server.script(script)
    emitted, report = await summarise(server, config=HASTY if kind == "timeout" else None)
    assert emitted == [BY_RULES]
    assert (report.source, report.text, report.complete) == ("rules", BY_RULES, False)
    assert report.warnings == (f"summary_failed:{kind}:gemini-3.5-flash-lite", "summary_empty")


async def test_a_model_that_stops_half_way_leaves_what_it_wrote(server: ScriptedGemini) -> None:
    """No second voice in one text; the answer must not be cached."""
    server.script(s.hung_up(s.text_chunk("Take the [Polar Tent](<p:t-1")))
    emitted, report = await summarise(server)
    assert "".join(emitted) == "Take the Polar Tent"
    assert (report.source, report.complete) == ("llm", False)


async def test_a_model_that_says_nothing_leaves_the_rules(server: ScriptedGemini) -> None:
    """An empty answer is no summary."""
    server.script(says(" ", "\n"))
    emitted, report = await summarise(server)
    assert emitted[-1] == BY_RULES
    assert (report.source, report.warnings) == ("rules", ("summary_empty",))


async def test_a_model_is_not_asked_about_nothing(server: ScriptedGemini) -> None:
    """Where nothing was found there is nothing to synthesise."""
    emitted, report = await summarise(server, SummaryRequest(query="unicorn <saddle>"))
    assert emitted == ["Nothing in this shop matches “unicorn saddle”."]
    assert (report.source, server.calls) == ("rules", [])


async def test_without_a_model_the_rules_write() -> None:
    """A whole answer, not a degraded one."""
    emitted: list[str] = []
    report = await write_summary(None, REQUEST, emitted.append)
    assert report == SummaryReport(text=BY_RULES, source="rules")
    assert emitted == [BY_RULES]


RULES: dict[str, tuple[dict[str, Any], str]] = {
    "no total": ({"total": None}, "Here are 2 products. Look in Tents and Sleeping Bags, from"),
    "one": (
        {"total": 1, "categories": (), "hits": (TENT,)},
        "Found 1 product. For $349. The best match is [Polar Tent](<p:t-1>).",
    ),
    "no prices": (
        {"categories": (), "hits": ({"_id": "x", "title": "Lamp"},)},
        "Found 214 products. The best match is [Lamp](<p:x>).",
    ),
    "two currencies": (
        {"categories": (), "hits": (TENT, BAG | {"currency": "EUR"})},
        "Found 214 products. The best match is [Polar Tent](<p:t-1>).",
    ),
    "hostile title": (
        {"categories": (), "hits": ({"_id": "x", "title": "A](<p:y>) <b>"},)},
        "Found 214 products. The best match is [A(p:y) b](<p:x>).",
    ),
    "id that no link can hold": (
        {"categories": (), "hits": ({"_id": "x>", "title": "Lamp"},)},
        "Found 214 products. The best match is Lamp.",
    ),
}


@pytest.mark.parametrize("case", RULES)
def test_the_rules_say_only_what_was_counted(case: str) -> None:
    """Numbers come from the search, prices from what is shown."""
    changes, expected = RULES[case]
    assert rules_summary(replace(REQUEST, **changes)).startswith(expected)


@pytest.mark.parametrize(
    ("price", "currency", "expected"),
    [
        (12, "USD", "$12"),
        (1299.5, "eur", "€1,299.50"),
        (1999.0, "JPY", "¥1,999"),
        (5.5, "SEK", "5.50 SEK"),
        (5, None, "5"),
    ],
)
def test_a_price_is_written_as_a_shopper_reads_it(price: float, currency: str | None, expected: str) -> None:
    """Sign before, code after, no cents where there are none."""
    assert price_text(price, currency) == expected
