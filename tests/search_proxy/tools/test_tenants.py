"""Nothing of another tenant in any byte: answers, errors, descriptions, schemas.

Two tenants share one index, kept apart by a key's forced filter, or by the customer groups that documents are
for. Every value of a tenant's documents, ids and field names too, holds a mark of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search_proxy.caller import Caller
from tests.search_proxy.tools.corpora import ACCOUNT, Tools, open_tools, tenant

pytestmark = pytest.mark.anyio

MINE, THEIRS = "quark", "zyxxo"
TOOLS = ("keyword_search", "semantic_search", "filter_documents", "fused_search", "search")


def shopper(name: str) -> Caller:
    """Return a caller of the shared account whom a group shows one tenant's documents, and no filter."""
    return Caller(account_id=ACCOUNT, key_kind="publishable", key_id="pk_all", groups=frozenset({name}))


RIGHTS = {"forced filter": tenant, "customer groups": shopper}


def shared(*, for_groups: bool = False) -> list[dict[str, Any]]:
    """Return thirty documents of two tenants; the other's are marked in every value and field name."""
    documents = []
    for number in range(30):
        mark = MINE if number % 2 else THEIRS
        documents.append(
            {
                "_id": f"{mark}-{number}",
                "tenant": mark,
                "productTitle": f"Camping tent {mark}title {number}",
                "description": f"A shelter of {mark}body for the quarter, tent {number}",
                "brand": f"{mark}brand{number % 4}",
                "tags": [f"{mark}tag", f"{mark}other{number % 3}"],
                "category": f"{mark}category{number % 2}",
                "createdTime": f"20{10 + number % 3 + (10 if mark == MINE else 0)}-05-01",
                "price": (number + 1) * (1.0 if mark == MINE else 977.0),
                f"{mark}field": f"{mark}value{number % 3}",
                **({"visibleTo": [mark]} if for_groups else {}),
            }
        )
    return documents


def leaks(text: str) -> bool:
    """Return whether a text has anything that only the other tenant's documents have."""
    return THEIRS in text.casefold() or "977" in text or "2010-05" in text or "2012-05" in text


async def everything(
    tools: Tools, arguments: list[tuple[str, dict[str, Any]]], rights: str = "forced filter"
) -> str:
    """Return every byte that the caller gets for some calls, and for the descriptions."""
    caller = RIGHTS[rights](MINE)
    seen = []
    for tool in await tools.toolbox.offered(caller, "mail"):
        seen += [tool.description, orjson.dumps(dict(tool.schema)).decode()]
    for name, given_arguments in arguments:
        answer = await tools.toolbox.call(caller, "mail", name, given_arguments)
        seen += [answer.text, orjson.dumps(answer.structured).decode()]
    return "\n".join(seen)


@pytest.mark.parametrize("rights", RIGHTS)
async def test_descriptions_and_schemas_show_the_caller_s_documents_alone(
    rights: str, tmp_path: Path
) -> None:
    """Sizes, values, dates, prices and field names are counted with the caller's rights."""
    documents = shared(for_groups=rights == "customer groups")
    async with open_tools(tmp_path, documents=documents) as tools:
        await tools.toolbox.offered(RIGHTS[rights](THEIRS), "mail")
        text = await everything(tools, [], rights)
        assert "15 documents" in text
        assert "quarkbrand1" in text
        assert "quarkfield" in text
        assert not leaks(text)


@pytest.mark.parametrize("rights", RIGHTS)
async def test_an_id_of_another_tenant_is_no_document(rights: str, tmp_path: Path) -> None:
    """As one that does not exist; only what the caller wrote is repeated."""
    documents = shared(for_groups=rights == "customer groups")
    async with open_tools(tmp_path, documents=documents) as tools:
        for tool, arguments in (
            ("get_document", {"document_id": f"{THEIRS}-2"}),
            ("read", {"document_ids": [f"{THEIRS}-2"]}),
        ):
            answer = await tools.toolbox.call(RIGHTS[rights](MINE), "mail", tool, arguments)
            unknown = {
                name: value.replace(THEIRS, "nobody") if isinstance(value, str) else ["nobody-2"]
                for name, value in arguments.items()
            }
            other = await tools.toolbox.call(RIGHTS[rights](MINE), "mail", tool, unknown)
            assert answer.text.replace(THEIRS, "nobody") == other.text


@pytest.mark.parametrize("rights", RIGHTS)
async def test_a_field_that_only_another_tenant_has_is_unknown(rights: str, tmp_path: Path) -> None:
    """Whether a hidden field exists cannot be told from the answer."""
    documents = shared(for_groups=rights == "customer groups")
    async with open_tools(tmp_path, documents=documents) as tools:
        for form in ("{}:(a)", "{} CONTAINS (a)", "{}:[1 TO 2]", "NOT {}:(a)"):
            answers = [
                await tools.toolbox.call(
                    RIGHTS[rights](MINE), "mail", "filter_documents", {"filter_text": form.format(name)}
                )
                for name in (f"{THEIRS}field", "nobodyfield")
            ]
            assert answers[0].text.replace(THEIRS, "nobody") == answers[1].text
            assert answers[0].failure == "invalid"


_FILTERS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "author": st.lists(st.sampled_from(["a", f"{MINE}brand1", "tent"]), min_size=1, max_size=2),
            "tags": st.lists(st.sampled_from(["x", f"{MINE}tag"]), min_size=1, max_size=2),
            "created_after": st.sampled_from(["2000-01-01", "2021-01-01", "never"]),
            "price": st.fixed_dictionaries({"max": st.floats(0, 1e6)}),
            "fields": st.dictionaries(
                st.sampled_from(["tags", "category", f"{MINE}field", "missing"]),
                st.lists(st.text(max_size=5), min_size=1, max_size=2),
                max_size=2,
            ),
        },
    ),
)
_TEXTS = st.one_of(
    st.none(),
    st.sampled_from(["price:[0 TO 99999]", "NOT tags:(x)", "tags:(", "brand CONTAINS (a) OR price:[1 TO *]"]),
    st.text(max_size=20),
)
_QUERIES = st.one_of(
    st.sampled_from(["camping tent", "shelter", "*", "tent title body brand", "quarter"]),
    st.text(min_size=1, max_size=20),
)


@pytest.mark.parametrize("rights", RIGHTS)
async def test_no_call_shows_a_byte_of_another_tenant(rights: str, tmp_path: Path) -> None:
    """Whatever is asked, in whatever shape; the tenant's own documents are found all along."""
    documents = shared(for_groups=rights == "customer groups")
    async with open_tools(tmp_path, documents=documents) as tools:
        asked: list[tuple[str, dict[str, Any]]] = []

        @settings(max_examples=120, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from(TOOLS), _QUERIES, _FILTERS, _TEXTS, st.integers(1, 50))
        def collect(tool: str, query: str, wanted: Any, text: str | None, limit: int) -> None:
            arguments: dict[str, Any] = {"limit": limit}
            if tool == "search":
                arguments["queries"] = [query, "tent"]
            elif tool != "filter_documents":
                arguments["query"] = query
            if wanted is not None:
                arguments["filter"] = wanted
            if text is not None:
                arguments["filter_text"] = text
            if tool == "semantic_search":
                arguments |= {"min_score": -1.0, "expand": limit % 2 == 0}
            asked.append((tool, arguments))

        collect()
        text = await everything(tools, asked, rights)
        assert not leaks(text)
        assert f"{MINE}-1" in text
