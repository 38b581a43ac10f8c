"""What an agentic request may say."""

from __future__ import annotations

import base64
import json

import pytest

from worker.errors import InvalidRequest, PayloadTooLarge
from worker.payload import MAX_PAYLOAD_BYTES, clean_query, read_json, read_query_parameters


def _encoded(data: object, *, url_safe: bool = False, padding: bool = True) -> str:
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    text = encode(json.dumps(data, ensure_ascii=False).encode()).decode()
    return text if padding else text.rstrip("=")


def test_plain_parameters_and_both_payload_forms_say_the_same() -> None:
    """GET takes plain parameters, base64 or base64url, padded or not. Source: docs/wire-format.md."""
    wanted = {"q": "zelt für zwei? ~ÿ>", "maxCategories": 3, "clickableSummary": False}
    plain = read_query_parameters({"q": wanted["q"], "maxCategories": "3", "clickableSummary": "false"})  # type: ignore[dict-item]
    for url_safe in (False, True):
        for padding in (False, True):
            payload = _encoded(wanted, url_safe=url_safe, padding=padding)
            assert read_query_parameters({"payload": payload}) == plain
            # A plus sign that was not percent-encoded arrives as a blank.
            assert read_query_parameters({"payload": payload.replace("+", " ")}) == plain
    assert read_json(json.dumps(wanted).encode()) == plain
    assert read_json(json.dumps({"payload": _encoded(wanted)}).encode()) == plain


def test_every_documented_parameter_is_read() -> None:
    """The names are those of the storefront API, the old name of the limit included."""
    body = {
        "q": "warm blanket",
        "agenticSearchLimit": 7,
        "maxCategories": 9,
        "clickableSummary": True,
        "suggestFilters": True,
        "searchSettings": {"limit": 3},
        "userId": "u",
        "sessionId": "s",
        "filter": "a:b",
        "enableConversation": True,
        "conversationId": "c",
    }
    payload = read_json(json.dumps(body).encode())
    assert (payload.category_result_limit, payload.max_categories) == (7, 9)
    assert (payload.user_id, payload.session_id, payload.conversation_id) == ("u", "s", "c")
    assert payload.search_settings == {"limit": 3}
    assert payload.suggest_filters
    assert payload.enable_conversation


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not JSON"),
        (b"[1]", "must be a JSON object, not an array"),
        (b"{}", "q is required"),
        (b'{"q": 5}', "q: input should be a valid string, not 5"),
        (b'{"q": "  \\u0000 "}', "q must not be empty"),
        (b'{"q": "\\ud800"}', "not JSON"),
        (b'{"q": "a", "maxCategories": 0}', "maxCategories"),
        (b'{"q": "a", "maxCategories": "3"}', "valid integer, not '3'"),
        (b'{"q": "a", "categoryResultLimit": 101}', "less than or equal to 100, not 101"),
        (b'{"q": "a", "categoryResultLimit": 3, "agenticSearchLimit": 3}', "give only one"),
        (b'{"q": "a", "clickableSummary": 1}', "valid boolean"),
        (b'{"q": "a", "searchSettings": []}', "valid dictionary"),
        (b'{"q": "a", "maxCategorys": 3}', "'maxCategorys' is not a parameter; known are q"),
        (b'{"payload": "%%%"}', "not base64"),
    ],
)
def test_a_wrong_body_is_refused_with_a_message_that_says_what_and_where(body: bytes, message: str) -> None:
    """Wrong JSON, types, ranges and names are 400. Source: docs/wire-format.md, errors."""
    with pytest.raises(InvalidRequest) as refused:
        read_json(body)
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"q": "a", "maxCategories": "many"}, "must be a whole number, not 'many'"),
        ({"q": "a", "clickableSummary": "yes"}, "must be true or false, not 'yes'"),
        ({"q": "a", "searchSettings": "{"}, "searchSettings is not JSON"),
        ({"q": "x" * 10_000}, "q has 10000 characters; at most 1000"),
        ({"payload": "e30=", "q": "a"}, "not both"),
        ({"payload": "not base64!"}, "not base64"),
    ],
)
def test_wrong_query_parameters_are_refused(parameters: dict[str, str], message: str) -> None:
    """Plain parameters are held to the same rules as JSON."""
    with pytest.raises(InvalidRequest) as refused:
        read_query_parameters(parameters)
    assert message in refused.value.message


def test_a_payload_over_64_kib_is_too_large_before_it_is_decoded() -> None:
    """The size is known from the text. Source: docs/wire-format.md, limits."""
    with pytest.raises(PayloadTooLarge):
        read_query_parameters({"payload": "A" * (MAX_PAYLOAD_BYTES * 4 // 3 + 8)})
    with pytest.raises(PayloadTooLarge):
        read_json(b'{"q": "' + b"x" * MAX_PAYLOAD_BYTES + b'"}')


def test_a_query_is_cleaned_of_control_characters_and_doubled_blanks() -> None:
    """What is searched is what a person reads."""
    assert clean_query(" red\u0000\tmug\u2028 cafe\u0301 ") == "red mug caf\u00e9"
