"""Each tool: what it finds, what it shows of it, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search_proxy.tools.tool_set import TOOLS
from tests.search_proxy.tools.corpora import mails, open_tools

pytestmark = pytest.mark.anyio

SARAH = {"author": ["sarah"], "tags": ["email"]}


def ids(answer: dict[str, Any]) -> list[str]:
    """Return the ids of a page's hits."""
    return [hit["id"] for hit in answer["hits"]]


async def test_the_mail_about_the_forecast_is_found_as_an_agent_would(tmp_path: Path) -> None:
    """Scope cheaply, narrow by meaning, then read one. Source: the walk-through of `search.v1`."""
    async with open_tools(tmp_path) as tools:
        scoped = await tools.call("mail", "filter_documents", filter=SARAH, limit=50)
        assert len(scoped["hits"]) == scoped["total"] == 23
        close = await tools.call(
            "mail", "semantic_search", query="Q3 forecast", filter=SARAH, limit=5, min_score=0.7
        )
        assert ids(close) == ["mail-11", "mail-07"] or ids(close) == ["mail-07", "mail-11"]
        assert all(hit["score"] >= 0.7 and hit["score_kind"] == "cosine" for hit in close["hits"])
        by_words = await tools.call("mail", "keyword_search", query="Q3 forecast", filter=SARAH)
        assert "mail-07" not in ids(by_words)
        document = await tools.call("mail", "get_document", document_id="mail-07")
        assert document["body"].startswith("Sales projections for the third quarter.")
        assert document["created_time"] == "2026-06-28T14:30:00Z"


async def test_a_hit_shows_plain_text_around_the_match_and_no_body(tmp_path: Path) -> None:
    """Markup never reaches a hit, nor does the text beyond the snippet."""
    long = mails()
    long[0]["description"] = (
        "<p>" + "filler words go on " * 100 + "the <b>zebra</b> crossing " + "tail " * 900 + "</p>"
    )
    async with open_tools(tmp_path, documents=long) as tools:
        (hit,) = (await tools.call("mail", "keyword_search", query="zebra crossing", limit=1))["hits"]
        assert "the zebra crossing tail" in hit["snippet"]
        assert "<" not in hit["snippet"]
        assert len(hit["snippet"]) <= 242
        assert hit["author"] == "sarah"
        assert hit["score_kind"] == "bm25"
        assert hit["fields"]["tags"] == ["email"]


async def test_filtering_is_newest_first_until_another_order_is_asked_for(tmp_path: Path) -> None:
    """`created_time desc` is the default; scores are null. Source: `search.v1`."""
    async with open_tools(tmp_path) as tools:
        newest = await tools.call("mail", "filter_documents", limit=50)
        times = [hit["created_time"] for hit in newest["hits"]]
        assert times == sorted(times, reverse=True)
        assert {(hit["score"], hit["score_kind"]) for hit in newest["hits"]} == {(None, None)}
        oldest = await tools.call("mail", "filter_documents", limit=50, order_by="created_time asc")
        assert [hit["created_time"] for hit in oldest["hits"]] == sorted(times)


async def test_an_order_is_read_as_people_and_models_write_it(tmp_path: Path) -> None:
    """Any case, any spaces, and the names that a hit has."""
    async with open_tools(tmp_path) as tools:
        expected = ids(await tools.call("mail", "filter_documents", order_by="created_time asc"))
        assert ids(await tools.call("mail", "filter_documents", order_by=" created_time   ASC ")) == expected
        by_title = await tools.call("mail", "filter_documents", order_by="title asc", limit=50)
        titles = [hit["title"] for hit in by_title["hits"]]
        assert titles == sorted(titles)


@pytest.mark.parametrize("tool", ["keyword_search", "semantic_search", "fused_search", "search"])
async def test_an_empty_page_behind_a_filter_blames_the_filter_too(tmp_path: Path, tool: str) -> None:
    """The words may well be there: a model that is told otherwise gives up on the right query."""
    query: dict[str, Any] = {"queries": ["forecast"]} if tool == "search" else {"query": "forecast"}
    async with open_tools(tmp_path) as tools:
        page = await tools.call("mail", tool, **query, filter={"created_before": "1980-01-01"})
        assert page["hits"] == []
        assert "that passes the filter" in page["note"]
        assert "widen the filter" in page["note"]


async def test_a_time_range_keeps_its_start_and_leaves_its_end_out(tmp_path: Path) -> None:
    """`created_after` is inclusive, `created_before` is not, in whatever zone they are written."""
    async with open_tools(tmp_path) as tools:
        june = {"created_after": "2026-06-28T14:30:00Z", "created_before": "2026-07-02T10:00:00+02:00"}
        assert ids(await tools.call("mail", "filter_documents", filter=june)) == ["mail-07"]


async def test_numeric_times_are_filtered_too(tmp_path: Path) -> None:
    """Seconds since 1970 and ISO text mean the same."""
    documents = [
        {"_id": f"n{day}", "productTitle": f"note {day}", "createdTime": 1_767_225_600 + day * 86_400}
        for day in range(5)
    ]
    async with open_tools(tmp_path, documents=documents) as tools:
        found = await tools.call(
            "mail",
            "filter_documents",
            filter={"created_after": "2026-01-02", "created_before": "2026-01-04"},
        )
        assert ids(found) == ["n2", "n1"]
        assert found["hits"][0]["created_time"] == "2026-01-03"


async def test_the_filter_object_and_the_filter_language_hold_together(tmp_path: Path) -> None:
    """Tags need all, authors any; the text is ANDed."""
    async with open_tools(tmp_path) as tools:
        both = {"author": ["sarah", "tom"], "tags": ["email", "weekly"]}
        assert (await tools.call("mail", "filter_documents", filter=both))["total"] == 20
        narrowed = await tools.call(
            "mail", "filter_documents", filter=both, filter_text="author:(tom) AND NOT scope:(finance)"
        )
        assert narrowed["total"] == 9
        scope = await tools.call("mail", "filter_documents", filter={"scope": "finance"})
        assert ids(scope) == ["mail-07"]
        declared = await tools.call("mail", "filter_documents", filter={"fields": {"tags": ["weekly"]}})
        assert declared["total"] == 20


async def test_a_meaning_search_returns_close_matches_or_nothing(tmp_path: Path) -> None:
    """The cutoff is the point. Source: `search.v1`, min_score."""
    async with open_tools(tmp_path) as tools:
        nothing = await tools.call("mail", "semantic_search", query="gas cooker")
        assert nothing["hits"] == []
        assert "keyword_search" in nothing["note"]


async def test_fused_and_multi_query_searches_are_ranked_by_places(tmp_path: Path) -> None:
    """RRF with k 60: first place of two lists is 2/61."""
    async with open_tools(tmp_path) as tools:
        fused = await tools.call("mail", "fused_search", query="forecast for Q3")
        assert fused["hits"][0]["id"] == "mail-30"
        assert fused["hits"][0]["score_kind"] == "rrf"
        assert fused["hits"][0]["score"] == pytest.approx(2 / 61, abs=1e-4)
        assert "mail-07" in ids(fused)
        many = await tools.call("mail", "search", queries=["revenue model", "slides", "revenue model"])
        assert set(ids(many)[:2]) == {"mail-07", "mail-11"}
        assert len(ids(many)) <= 10


async def test_a_hundred_queries_are_taken_and_one_more_is_not(tmp_path: Path) -> None:
    """1 to 100 queries, one page."""
    async with open_tools(tmp_path) as tools:
        page = await tools.call("mail", "search", queries=[f"menu {n}" for n in range(100)], limit=50)
        assert len(page["hits"]) >= 37
        sentence = await tools.sentence("mail", "search", queries=[f"menu {n}" for n in range(101)])
        assert "'queries'" in sentence
        assert "100" in sentence


async def test_read_gives_what_is_there_and_names_what_is_not(tmp_path: Path) -> None:
    """Missing ids are data, not an error."""
    async with open_tools(tmp_path) as tools:
        answer = await tools.call("mail", "read", document_ids=["mail-01", "nowhere", "mail-02"])
        assert [document["id"] for document in answer["documents"]] == ["mail-01", "mail-02"]
        assert answer["missing"] == ["nowhere"]
        assert "<p>" not in answer["documents"][0]["body"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("keyword_search", {}, ("'query'", "missing")),
        ("keyword_search", {"query": "x", "limit": 51}, ("'limit'", "50")),
        ("keyword_search", {"query": "x", "size": 5}, ("'size'", "'limit'")),
        ("keyword_search", {"query": "x", "filter_text": "author:("}, ("position", "filter object")),
        ("keyword_search", {"query": "x", "filter": {"fields": {"colour": ["red"]}}}, ("'colour'", "'tags'")),
        ("filter_documents", {"filter": {"created_after": "soon"}}, ("'filter.created_after'", "ISO 8601")),
        ("filter_documents", {"filter": {"price": {"max": 5}}}, ("'price'", "leave it out")),
        ("filter_documents", {"order_by": "author sideways"}, ("'asc' or 'desc'",)),
        (
            "keyword_search",
            {"query": "x", "filter": "tags:x"},
            ("'filter'", "an object with any of 'author'"),
        ),
        ("keyword_search", {"query": "x", "filter": {"price": 5}}, ("an object with any of 'min', 'max'",)),
        ("keyword_search", {"query": None}, ("'query'", "not null")),
        ("get_document", {"document_id": "mail-99"}, ("'mail-99'", "search")),
        ("web_search", {"query": "x"}, ("not configured", "search")),
        ("fetch_page", {"url": "https://a.example/"}, ("switched off",)),
        ("delete_document", {}, ("no tool", "keyword_search")),
    ],
)
async def test_what_cannot_be_done_is_said_in_a_sentence(
    tmp_path: Path, tool: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    """One sentence: what happened, and what would do."""
    async with open_tools(tmp_path) as tools:
        sentence = await tools.sentence("mail", tool, **arguments)
        assert all(word in sentence for word in words), sentence
        assert sentence.endswith(".")
        assert "Traceback" not in sentence
        assert "\n" not in sentence


async def test_without_vectors_the_way_around_is_named(tmp_path: Path) -> None:
    """The call says so, and so does the description. Source: design §3.17."""
    async with open_tools(tmp_path, with_vectors=False) as tools:
        sentence = await tools.sentence("mail", "semantic_search", query="Q3 forecast")
        assert "no vectors" in sentence
        assert "keyword_search" in sentence
        offered = {tool.name: tool for tool in await tools.toolbox.offered(tools.caller, "mail")}
        assert "Not available now" in offered["semantic_search"].description
        assert (await tools.call("mail", "fused_search", query="menu"))["note"].startswith("ranked by words")


async def test_an_embedder_that_fails_is_a_sentence_and_words_still_work(tmp_path: Path) -> None:
    """A lane that is down never breaks the loop."""
    async with open_tools(tmp_path) as tools:
        tools.embedder.is_down = True
        sentence = await tools.sentence("mail", "semantic_search", query="never asked before")
        assert "not available" in sentence
        assert "keyword_search" in sentence
        assert (await tools.call("mail", "keyword_search", query="slides"))["total"] == 1


async def test_descriptions_tell_what_the_index_is_and_what_calls_cost(tmp_path: Path) -> None:
    """Name, size, fields with values, dates, language, and measured figures; nothing else."""
    async with open_tools(tmp_path) as tools:
        offered = await tools.toolbox.offered(tools.caller, "mail")
        assert [tool.name for tool in offered] == [tool.name for tool in TOOLS]
        for tool in offered:
            assert "Good at: " in tool.description
            assert "Bad at: " in tool.description
            assert f"Example: {tool.name}(" in tool.description
        text = offered[0].description
        assert "index 'mail', 40 documents, in English" in text
        assert "sarah (23)" in text
        assert "Dated from 2026-01-01T09:00:00Z to" in text
        assert "measured on this index" in text
        await tools.engine.delete_documents("acme", "mail", ["mail-00"])
        again = await tools.toolbox.offered(tools.caller, "mail")
        assert "39 documents" in again[0].description
        assert "sarah (22)" in again[0].description


async def test_the_schema_offers_exactly_what_the_arguments_take(tmp_path: Path) -> None:
    """Every property of every schema is read, and every example limit is right."""
    async with open_tools(tmp_path) as tools:
        offered = {tool.name: tool for tool in await tools.toolbox.offered(tools.caller, "mail")}
        limit = offered["keyword_search"].schema["properties"]["limit"]
        assert (limit["default"], limit["maximum"]) == (10, 50)
        everything = {
            "author": ["sarah"],
            "brand": ["sarah"],
            "tags": ["email"],
            "created_after": "2020-01-01",
            "created_before": "2030-01-01",
            "scope": ["everyone"],
            "fields": {"tags": ["email"]},
        }
        schema = offered["keyword_search"].schema["properties"]["filter"]
        assert set(schema["properties"]) == {*everything, "price"}
        found = await tools.call("mail", "keyword_search", query="menu", filter=everything, limit=50)
        assert found["total"] > 0


async def test_more_dates_as_text_than_can_be_counted_are_refused_with_the_reason(tmp_path: Path) -> None:
    """An answer that leaves out documents would be worse than none; the sentence says what still works."""
    documents = [
        {
            "_id": f"n{number}",
            "productTitle": "note",
            "createdTime": f"2026-01-01T{number // 3600:02}:{number % 3600 // 60:02}:{number % 60:02}Z",
        }
        for number in range(10_001)
    ]
    async with open_tools(tmp_path, documents=documents) as tools:
        refused = await tools.sentence("mail", "filter_documents", filter={"created_after": "2026-01-01"})
        assert "'createdTime' has 10,000 different dates or more, written as text" in refused
        newest = await tools.call("mail", "filter_documents", order_by="created_time desc", limit=1)
        assert newest["hits"][0]["id"] == "n10000"
        offered = await tools.toolbox.offered(tools.caller, "mail")
        described = offered[0].schema["properties"]["filter"]["properties"]["created_after"]["description"]
        assert "too many different dates" in described


async def test_an_argument_by_another_name_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    """What a model most often gets wrong: the query's name, and a field beside the filter's own parts."""
    async with open_tools(tmp_path) as tools:
        other_name = await tools.sentence("mail", "keyword_search", q="forecast")
        assert other_name == (
            "Argument 'query' is missing, and there is no argument 'q'; "
            "there is 'query', 'filter', 'filter_text', 'limit'."
        )
        beside = await tools.sentence("mail", "filter_documents", filter={"channel": ["finance"]})
        assert beside.endswith("'fields'; a field of the documents goes into 'filter.fields'.")


async def test_a_whole_number_with_a_point_is_a_whole_number(tmp_path: Path) -> None:
    """Some models write every number so; a fraction is still refused."""
    async with open_tools(tmp_path) as tools:
        assert len((await tools.call("mail", "filter_documents", limit=3.0))["hits"]) == 3
        assert "'limit'" in await tools.sentence("mail", "filter_documents", limit=2.5)


async def test_nobody_has_to_wait_for_costs(tmp_path: Path) -> None:
    """What is not measured yet is left out; once somebody has waited, everybody is told."""
    async with open_tools(tmp_path) as tools:
        assert not tools.toolbox.is_measured(tools.caller, "mail")
        at_once = await tools.toolbox.offered(tools.caller, "mail", measured=False)
        assert "Cost: not measured here." in at_once[0].description
        whole = await tools.toolbox.offered(tools.caller, "mail")
        assert "calls measured on this index" in whole[0].description
        assert tools.toolbox.is_measured(tools.caller, "mail")
        later = await tools.toolbox.offered(tools.caller, "mail", measured=False)
        assert later[0].description == whole[0].description
