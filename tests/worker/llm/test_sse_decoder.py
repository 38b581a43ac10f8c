"""The SSE decoder: the data of events, wherever the network cuts them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.llm.language_model import ModelError
from worker.llm.sse_decoder import MAX_EVENT_BYTES, SseDecoder

STREAM = (
    ': ping\n\nevent: message\r\nid: 7\r\ndata: {"a": "é\u2028\u0085"}\r\n\r\ndata:{}\n\n'
    "retry: 5\ndata: one\ndata: two\n\ndata: [DONE]\n\ndata:\n\ndata: cr\r\rdata: last\r\ndata: line"
).encode()
EVENTS = ['{"a": "é\u2028\u0085"}'.encode(), b"{}", b"one\ntwo", b"cr", b"last\nline"]


@given(st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=200))
def test_where_the_network_cuts_changes_nothing(sizes: list[int]) -> None:
    """Between CR and LF, inside a character, inside a field name."""
    decoder, found, at = SseDecoder(), [], 0
    for size in [*sizes, len(STREAM)]:
        found += decoder.feed(STREAM[at : at + size])
        at += size
    assert [*found, *decoder.flush()] == EVENTS


def test_an_event_is_out_with_its_blank_line() -> None:
    """Nothing waits for the next event."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: x\n") == []
    assert decoder.feed(b"\n") == [b"x"]


def test_an_event_without_end_is_refused() -> None:
    """Memory is bounded whatever the server sends."""
    decoder = SseDecoder()
    for _ in range(MAX_EVENT_BYTES // 1000):
        assert decoder.feed(b"x" * 1000) == []
    with pytest.raises(ModelError, match="exceeds 1000000 bytes"):
        decoder.feed(b"x")
