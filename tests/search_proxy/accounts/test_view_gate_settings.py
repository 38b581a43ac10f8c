"""The view gate's settings: refused with the reason, and closed where they cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from search_proxy.accounts.settings_schema import SettingsRefused, checked_settings, readable_settings


def test_the_rule_itself_checks_by_default() -> None:
    """A document that says nothing is everybody's."""
    settings = checked_settings({}).view_gate
    assert (settings.kind, settings.require_field, settings.url) == ("local", False, None)
    assert (settings.timeout_ms, settings.cache_seconds) == (300, 10.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "http"}, "view_gate: kind 'http' needs the url of the permission service"),
        ({"kind": "all"}, "view_gate.kind is 'all'; it takes one of 'local', 'http', 'none', 'closed'"),
        ({"timeout_ms": 9}, "view_gate.timeout_ms is 9; it takes an integer from 10 to 5000"),
        ({"cache_seconds": 301}, "view_gate.cache_seconds is 301; it takes a number from 0 to 300"),
        ({"require_field": "yes"}, "view_gate.require_field is 'yes'; it takes true or false"),
        (
            {"url": "example.com"},
            "view_gate: url must be like 'https://permissions.example.com/view', not 'example.com'",
        ),
        ({"url": "https://user:secret@example.com/"}, "view_gate: url must not contain a user or password"),
        ({"url": "https://example.com/#x"}, "view_gate: url must not have a fragment"),
        ({"url": "https://example.com:x/"}, "view_gate: url 'https://example.com:x/' is not a URL"),
        (
            {"uri": "https://example.com"},
            "view_gate.uri is not a known field; "
            "known here: cache_seconds, kind, require_field, timeout_ms, url",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(values: dict[str, Any], message: str) -> None:
    """The message names the field, and no secret of a URL."""
    with pytest.raises(SettingsRefused) as refused:
        checked_settings({"view_gate": values})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "stored",
    [
        {"kind": "of-a-later-release"},
        {"kind": "http"},
        {"later": 1},
        {"require_field": 1},
        [],
        7,
        None,
        "none",
    ],
)
def test_what_cannot_be_read_is_closed(stored: Any) -> None:
    """Of everything else the default would do; here it would open what somebody has closed."""
    settings = readable_settings({"view_gate": stored, "cached_query_percentage": 7})
    assert settings.view_gate.kind == "closed"
    assert settings.cached_query_percentage == 7
