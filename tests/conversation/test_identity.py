"""Conversation ids."""

from __future__ import annotations

import re

from conversation.identity import is_issued_id, new_conversation_id, new_secret


def test_an_id_belongs_to_its_account_alone() -> None:
    """The id of one account is not an id of another. Source: design, conversation."""
    secret = new_secret()
    issued = new_conversation_id(secret, "acme")
    assert is_issued_id(secret, "acme", issued)
    assert not is_issued_id(secret, "acme2", issued)
    assert not is_issued_id(new_secret(), "acme", issued)


def test_no_character_of_an_id_can_be_changed() -> None:
    """An id that somebody made up is never an issued one."""
    secret = new_secret()
    issued = new_conversation_id(secret, "acme")
    for place, character in enumerate(issued):
        changed = issued[:place] + ("A" if character != "A" else "B") + issued[place + 1 :]
        assert not is_issued_id(secret, "acme", changed)
    for forged in ("", "x", issued[:-1], issued + "A", "ä" * 40, "A" * 40, issued.replace("", " ")[:40]):
        assert not is_issued_id(secret, "acme", forged)


def test_ids_are_random_and_safe_everywhere() -> None:
    """Forty characters of the URL-safe alphabet, 144 bits of them random, never twice the same."""
    secret = new_secret()
    ids = {new_conversation_id(secret, "acme") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{40}", issued) for issued in ids)
