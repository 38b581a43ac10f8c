"""Settings: defaults, messages, and reading what another release has written."""

from __future__ import annotations

from typing import Any

import pytest

from search_proxy.accounts.settings_schema import (
    IndexSettings,
    SettingsRefused,
    checked_settings,
    merged_settings,
    readable_settings,
)


def test_without_settings_everything_has_its_documented_default() -> None:
    """The flow document's defaults. Source: marqo-api, 1.3, 1.4 and 1.8."""
    settings = checked_settings({})
    config = settings.agentic_config
    assert settings.feature_flags.agentic_search
    assert (config.max_categories, config.category_result_limit) == (5, 12)
    assert (config.converse_max_categories, config.converse_category_result_limit) == (4, 6)
    assert config.short_query_words == 4
    assert settings.cached_query_percentage == 100


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"agentic_config": {"max_categories": 9}},
            "agentic_config.max_categories is 9; it takes an integer from 1 to 6",
        ),
        (
            {"feature_flags": {"agentic_search": "yes"}},
            "feature_flags.agentic_search is 'yes'; it takes true or false",
        ),
        (
            {"agentic_config": {"filter_facets": {"fields": "color"}}},
            "agentic_config.filter_facets.fields is 'color'; it takes a list of at most 100, each text of at"
            " most 256 characters",
        ),
        (
            {"agentic_config": {"max_categorys": 3}},
            "agentic_config.max_categorys is not a known field; known here: budgets, cache_model_answers,",
        ),
        (
            {"cached_query_percentage": 101},
            "cached_query_percentage is 101; it takes an integer from 0 to 100",
        ),
        (
            {"cached_query_percentage": True},
            "cached_query_percentage is True; it takes an integer from 0 to 100",
        ),
        ({"feature_flags": []}, "feature_flags is []; it takes an object"),
        (
            {"cached_query_percentage": -1, "feature_flags": {"converse": 1}},
            "feature_flags.converse is 1; it takes true or false (and 1 more)",
        ),
    ],
)
def test_a_refusal_names_the_field_and_what_it_takes(values: dict[str, Any], message: str) -> None:
    """The sentence comes from the schema itself."""
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(values)
    assert str(refused.value).startswith(message)


def test_the_index_s_part_wins_field_by_field() -> None:
    """Sections are merged, not replaced."""
    merged = merged_settings(
        {"agentic_config": {"max_categories": 2, "enable_summary": False}, "cached_query_percentage": 10},
        {"agentic_config": {"max_categories": 6}},
    )
    assert merged == {
        "agentic_config": {"max_categories": 6, "enable_summary": False},
        "cached_query_percentage": 10,
    }


@pytest.mark.parametrize(
    "unreadable",
    [
        {"agentic_config": {"of_a_newer_release": 1}},
        {"of_a_newer_release": {"a": 1}},
        {"agentic_config": {"max_categories": 99}},
        {"agentic_config": {"filter_facets": {"fields": ["", "x" * 500]}}},
        {"agentic_config": 3},
        {"agentic_config": {"models": {"plan": ["a"], "other": {}}}},
    ],
)
def test_a_field_that_cannot_be_read_costs_itself_alone(unreadable: dict[str, Any]) -> None:
    """A switch that an account has turned off stays off beside a field of a newer release."""
    stored = merged_settings(unreadable, {"feature_flags": {"agentic_search": False}})
    settings = readable_settings(stored)
    assert not settings.feature_flags.agentic_search
    assert settings.agentic_config == IndexSettings().agentic_config


def test_the_published_schema_describes_every_field() -> None:
    """A console can be built from it alone."""
    definitions = IndexSettings.model_json_schema()["$defs"]
    for name, definition in definitions.items():
        for field, schema in definition["properties"].items():
            assert "description" in schema or "$ref" in schema, f"{name}.{field}"
