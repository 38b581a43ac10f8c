"""`web_search`: Tavily where its key is set, else Google, over the wires that they document."""

from __future__ import annotations

import httpx
import orjson
import pytest

from search_proxy.web.keys import WebSearchKeys
from search_proxy.web.providers import choose_searcher
from search_proxy.web.tier import WebError
from tests.search_proxy.web.web_servers import (
    GOOGLE_ENGINE,
    GOOGLE_KEY,
    TAVILY_KEY,
    SmallWeb,
    google_answer,
    query_of,
    small_web,
    tavily_answer,
)

pytestmark = pytest.mark.anyio


def keys(web: SmallWeb, *, tavily: bool, google: bool) -> WebSearchKeys:
    """Return keys whose providers are both the small web."""
    url = f"http://127.0.0.1:{web.port}"
    return WebSearchKeys(
        tavily_key=TAVILY_KEY if tavily else None,
        google_key=GOOGLE_KEY if google else None,
        google_engine=GOOGLE_ENGINE if google else None,
        tavily_url=url,
        google_url=url,
    )


async def test_tavily_is_asked_first_as_it_documents() -> None:
    """`POST /search` with a bearer key; the content is the snippet, without markup."""
    found = [{"title": "Notes", "url": "https://a.example/n", "content": "API <b>v2</b> collections"}]
    async with small_web({"/search": tavily_answer(found)}) as web, httpx.AsyncClient() as client:
        searcher = choose_searcher(client, keys(web, tavily=True, google=True))
        assert searcher is not None
        (result,) = await searcher.search("vector database 0.6 migration", 3)
        assert (result.title, result.url, result.snippet) == (
            "Notes",
            "https://a.example/n",
            "API v2 collections",
        )
        ((method, _, path, body),) = web.asked
        assert (method, path) == ("POST", "/search")
        assert orjson.loads(body)["query"] == "vector database 0.6 migration"
        assert orjson.loads(body)["max_results"] == 3
        assert web.headers[0]["authorization"] == f"Bearer {TAVILY_KEY}"


async def test_google_is_asked_where_tavily_has_no_key() -> None:
    """`GET /customsearch/v1` with the engine's id; items become results."""
    items = [{"title": "Manual", "link": "https://b.example/m", "snippet": "How to descale", "kind": "x"}]
    async with small_web({"/customsearch/v1": google_answer(items)}) as web, httpx.AsyncClient() as client:
        searcher = choose_searcher(client, keys(web, tavily=False, google=True))
        assert searcher is not None
        (result,) = await searcher.search("descale espresso", 4)
        assert (result.title, result.url, result.snippet) == (
            "Manual",
            "https://b.example/m",
            "How to descale",
        )
        ((method, _, path, _),) = web.asked
        assert method == "GET"
        assert query_of(path) == {"cx": [GOOGLE_ENGINE], "q": ["descale espresso"], "num": ["4"]}


async def test_without_a_key_there_is_no_provider() -> None:
    """Half of Google's setup is none."""
    async with httpx.AsyncClient() as client:
        assert choose_searcher(client, WebSearchKeys()) is None
        assert choose_searcher(client, WebSearchKeys(google_key="k")) is None


@pytest.mark.parametrize("status", [401, 403, 429, 432, 500])
async def test_a_refusing_provider_is_a_sentence_without_the_key(status: int) -> None:
    """What the model can act on, and nothing secret."""
    async with (
        small_web({"/search": (status, {}, TAVILY_KEY.encode())}) as web,
        httpx.AsyncClient() as client,
    ):
        searcher = choose_searcher(client, keys(web, tavily=True, google=False))
        assert searcher is not None
        with pytest.raises(WebError) as refused:
            await searcher.search("x", 3)
        assert "web search" in str(refused.value)
        assert TAVILY_KEY not in str(refused.value)


@pytest.mark.parametrize("results", ["5", '"x"', '{"a": 1}', "[5, null, {}, [1]]", "null"])
async def test_results_of_another_kind_are_no_results(results: str) -> None:
    """A number where the list should be ends no turn."""
    answer = f'{{"results": {results}}}'.encode()
    async with small_web({"/search": (200, {}, answer)}) as web, httpx.AsyncClient() as client:
        searcher = choose_searcher(client, keys(web, tavily=True, google=False))
        assert searcher is not None
        assert list(await searcher.search("x", 3)) == []


async def test_an_answer_that_is_no_json_is_a_sentence() -> None:
    """A proxy's error page is not a result."""
    async with small_web({"/search": (200, {}, b"<html>")}) as web, httpx.AsyncClient() as client:
        searcher = choose_searcher(client, keys(web, tavily=True, google=False))
        assert searcher is not None
        with pytest.raises(WebError, match="JSON"):
            await searcher.search("x", 3)
