"""Secrets stay out of what others read."""

from __future__ import annotations

import logging

import pytest

from search_proxy.accounts.derived_keys import DerivedClaims, derive
from search_proxy.accounts.keys import mint
from search_proxy.accounts.scrubbing import scrubbed
from tests.search_proxy.accounts.secret_watch import LeakedKeys, a_key, holds_a_key


def test_keys_are_reduced_to_their_public_id() -> None:
    """The id is enough to find the key in the account."""
    key_id, token = mint("secret")
    text = f"GET /x?apiKey={token}&q=1 Authorization: Bearer {token}"
    assert token not in scrubbed(text)
    assert not holds_a_key(scrubbed(text))
    assert scrubbed(f"used {token} twice") == f"used sk_{key_id}_... twice"


def test_derived_keys_and_foreign_secrets_are_scrubbed() -> None:
    """Whatever form a secret comes in."""
    derived = derive(a_key(), DerivedClaims(expires=9e9, filter="price:[1 TO 2]"))
    assert derived.split(".")[1] not in scrubbed(f"key {derived}")
    assert "AIzaSyA" not in scrubbed("key AIzaSyA1234567890abcdefghijklmnopqrstuv")
    assert scrubbed("Authorization: Bearer abcdefghijklmnop") == "Authorization: Bearer ..."
    assert scrubbed("/path?token=abc123&q=warm") == "/path?token=...&q=warm"


@pytest.mark.parametrize("text", ["", "plain text", "sk_ate shoes", "a dk_unit", "pk_x", "price:[1 TO 2]"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Scrubbing must not eat queries."""
    assert scrubbed(text) == text


def test_a_finished_line_is_scrubbed_with_its_traceback() -> None:
    """As a formatter hands it over: JSON, with extras and an exception."""
    token = a_key()
    line = f'{{"event":"failed","headers":["Bearer {token}"],"exception":"ValueError: bad key {token}\\n"}}'
    assert scrubbed(line) == line.replace(f"Bearer {token}", "Bearer ...").replace(
        token, token.rpartition("_")[0] + "_..."
    )


def test_the_watch_sees_a_key_in_a_log_line() -> None:
    """The check of the whole run is not blind."""
    watch = LeakedKeys()
    logger = logging.getLogger("tests.secret_watch")
    logger.propagate = False
    logger.addHandler(watch)
    logger.warning("request_failed", extra={"path": f"/?k={a_key()}"})
    logger.warning("request_failed", extra={"path": "/"})
    assert len(watch.lines) == 1
