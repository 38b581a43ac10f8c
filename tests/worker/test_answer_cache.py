"""Which questions are one: what shapes an answer is in its key or in its tags, and nothing else is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search_proxy.accounts.settings_schema import SettingsSnapshot, checked_settings
from search_proxy.caller import Caller
from search_proxy.filters import parse_filter
from search_proxy.models import FieldInfo, IndexDescription
from worker.answer_cache import plan_cache
from worker.payload import AgenticPayload
from worker.request import AgenticRequest, build_request

SHOPPER = Caller(account_id="acme", key_kind="publishable")
OWNER = Caller(account_id="acme", key_kind="secret")
INDEX = IndexDescription(
    index="shoes",
    documents=2,
    products=2,
    fields=(
        FieldInfo(name="color", kind="string", documents=2, distinct=2),
        FieldInfo(name="productTitle", kind="string", documents=2, distinct=2),
    ),
    category_field=None,
    language="en",
    generation="g-1",
)


def _request(
    caller: Caller = SHOPPER,
    settings: dict[str, Any] | None = None,
    description: IndexDescription = INDEX,
    **payload: Any,
) -> AgenticRequest:
    """Return a request for red running shoes."""
    snapshot = SettingsSnapshot(settings=checked_settings(settings or {}), version=1)
    asked = AgenticPayload.model_validate({"q": "red running shoes"} | payload)
    return build_request(caller, "shoes", asked, snapshot, description)


def _key(*args: Any, **kwargs: Any) -> str:
    key = plan_cache(_request(*args, **kwargs), "model-a").key
    assert key is not None
    return key.text


def _tags(model: str = "model-a", **kwargs: Any) -> dict[str, str]:
    return dict(plan_cache(_request(**kwargs), model).tags)


def test_the_plain_question_has_the_plain_key() -> None:
    """So that an operator, an approved answer and a warm one all mean the same. Source: docs/caching.md."""
    assert _key() == "acme#shoes#red running shoes"


@pytest.mark.parametrize(
    "payload",
    [
        {"categoryResultLimit": 30},
        {"sessionId": "s1", "userId": "u1"},
        {"suggestFilters": True},
        {"searchSettings": {"limit": 40}},
        {"searchSettings": {"attributesToRetrieve": ["productTitle", "price", "brand"]}},
        {"searchSettings": {"sortBy": {"fields": [{"fieldName": "color"}]}}},
    ],
)
def test_what_does_not_shape_the_answer_shares_the_key(payload: dict[str, Any]) -> None:
    """More hits, other attributes beside title and price, an order of the first hits."""
    assert _key(**payload) == _key()


@pytest.mark.parametrize(
    "payload",
    [
        {"filter": "color:(red)"},
        {"searchSettings": {"filter": "color:(red)"}},
        {"maxCategories": 2},
        {"clickableSummary": False},
        {"categoryResultLimit": 1},
        {"searchSettings": {"attributesToRetrieve": ["color"]}},
        {"searchSettings": {"attributesToRetrieve": ["productTitle"]}},
    ],
)
def test_an_answer_made_from_less_is_not_everybodys(payload: dict[str, Any]) -> None:
    """No shopper can leave the others a summary without links, titles or products. Source: security."""
    assert _key(**payload).startswith("acme#shoes#red running shoes#")


def test_what_differs_differs_from_what_the_account_has_set() -> None:
    """An account that shows two hits a category has the plain key for two, and other tags."""
    settings = {"agentic_config": {"category_result_limit": 2, "max_categories": 3}}
    assert _key(settings=settings) == _key()
    assert _key(settings=settings, categoryResultLimit=2, maxCategories=3) == _key()
    assert _key(settings=settings, categoryResultLimit=12) != _key()
    assert _tags(settings=settings) != _tags()


def test_who_may_see_more_does_not_write_for_those_who_may_see_less() -> None:
    """Forced filters, groups, and the owner's own view of an index that hides something from shoppers."""
    hiding = replace(INDEX, says_who_may_see=True)
    bound = replace(SHOPPER, forced_filter=parse_filter("color:(red)"))
    trade, staff = (replace(SHOPPER, groups=frozenset({name})) for name in ("trade", "staff"))
    keys = [_key(caller, description=hiding) for caller in (SHOPPER, OWNER, bound, trade, staff)]
    assert len(set(keys)) == len(keys)
    assert keys[0] == _key()
    assert _key(OWNER) == _key(SHOPPER)


def test_a_forced_filter_and_the_same_filter_of_a_client_are_two_questions() -> None:
    """What an account forces and what a shopper chose never meet."""
    bound = replace(SHOPPER, forced_filter=parse_filter("color:(red)"))
    assert _key(bound) != _key(filter="color:(red)")


def test_another_model_or_another_setting_makes_the_old_answer_outdated() -> None:
    """The tag that differs names it. Source: design, decision 14."""
    chosen = {"agentic_config": {"models": {"plan": "model-b"}}}
    assert _tags("model-a")["model"] == "model-a"
    assert _tags("model-a", settings=chosen)["model"] == "model-b"
    for changed in ({"agentic_config": {"enable_summary": False}}, {"view_gate": {"kind": "closed"}}):
        assert _tags(settings=changed)["shape"] != _tags()["shape"]


def test_an_account_id_in_the_query_stays_in_the_query() -> None:
    """A hostile question cannot be written under another account's key."""
    hostile = _key(q="x#shoes#red running shoes")
    assert hostile == "acme#shoes#x%23shoes%23red running shoes"
    assert _key(replace(SHOPPER, account_id="rival"), q="x") == "rival#shoes#x"


def test_a_log_line_says_which_question_was_looked_for() -> None:
    """Nothing for the plain one; else what differs, and the hash that finds its entry by hand."""
    plain = plan_cache(_request(), "model-a")
    narrow = plan_cache(_request(filter="color:(red)", maxCategories=2), "model-a")
    assert plain.as_log() == {}
    assert narrow.key is not None
    assert narrow.as_log() == {"variant": narrow.key.variant, "differs": ["filter", "categories"]}
    assert narrow.key.text == f"acme#shoes#red running shoes#{narrow.key.variant}"


def test_the_guide_explains_every_word_that_can_set_a_question_apart() -> None:
    """An operator finds the word of the log line in its table. Source: docs/caching.md."""
    caller = replace(OWNER, forced_filter=parse_filter("color:(red)"))
    settings = {"attributesToRetrieve": ["color"], "filter": "color:(red)"}
    request = _request(
        caller,
        description=replace(INDEX, says_who_may_see=True),
        maxCategories=2,
        clickableSummary=False,
        categoryResultLimit=1,
        searchSettings=settings,
    )
    narrowed = replace(request.category, collapse=False, lane="text")
    grouped = replace(request, caller=replace(SHOPPER, groups=frozenset({"trade"})), category=narrowed)
    words = {word for one in (request, grouped) for word in plan_cache(one, "model-a").differs}
    assert len(words) == 10
    guide = (Path(__file__).resolve().parents[2] / "docs" / "caching.md").read_text()
    for word in words:
        assert re.search(rf"^\|[^|]*`{word}`", guide, re.MULTILINE), word
