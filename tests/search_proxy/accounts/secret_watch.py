"""Watches tests for keys where none may be: in log lines, and in answers that do not create one."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import httpx
import pytest

from search_proxy.accounts.keys import mint

_KEY = re.compile(
    r"\b(?:pk|sk)_[0-9a-z]{12}_[0-9a-z]{32}\b|\bdk_[0-9a-z]{12}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{43}"
)
_CREATING = re.compile(r"/api/v1/admin/(?:accounts|keys|keys/derive|keys/[0-9a-z]+/rotate)\Z")
_OF_THE_TEST_S_CLIENT = ("httpx", "httpcore", "hypothesis", "asyncio")


class LeakedKeys(logging.Handler):
    """Collects log lines that hold a whole key, exceptions and extras included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line if a key is in it."""
        text = f"{logging.Formatter().format(record)} {vars(record)}"
        if not record.name.startswith(_OF_THE_TEST_S_CLIENT) and holds_a_key(text):
            self.lines.append(text)


def holds_a_key(text: str) -> bool:
    """Return whether a whole key stands in the text."""
    return _KEY.search(text) is not None


async def refuse_leaked_keys(response: httpx.Response) -> None:
    """Fail the test whose server answers with a key outside the routes that create one."""
    text = (await response.aread()).decode(errors="replace") + str(response.headers)
    if holds_a_key(text) and _CREATING.search(response.url.path) is None:
        raise AssertionError(f"a key leaked through {response.url.path}")


@pytest.fixture(autouse=True)
def no_key_in_any_log_line() -> Iterator[None]:
    """Fail a test during which a whole key was logged."""
    watch = LeakedKeys()
    logging.getLogger().addHandler(watch)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(watch)
    assert watch.lines == []


def a_key() -> str:
    """Return a key as it is given out."""
    return mint("secret")[1]
