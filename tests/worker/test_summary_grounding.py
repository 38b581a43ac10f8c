"""Grounded text: what a model writes is safe to show at every moment of the stream."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.grounding import GroundedText
from worker.summary_prices import PriceCheck

SENT = ("A1", "b-2", "id with (brackets)")
PRICES = (12.99, 349.0, 1299.0)
OUR_LINK = re.compile(r"\[([^\[\]<>\n]*)\]\(<([pq]):([^<>\n]+)>\)")


def grounded(pieces: Sequence[str], *, clickable: bool = True, query: str = "") -> tuple[str, dict[str, int]]:
    """Return what is shown of the pieces, and what was counted."""
    text = GroundedText(SENT, PriceCheck(PRICES, query=query), clickable=clickable)
    shown = "".join(text.feed(piece) for piece in pieces) + text.close()
    return shown, dict(text.counts)


CASES: dict[str, tuple[str, str, dict[str, int]]] = {
    "plain text": ("Warm and dry.", "Warm and dry.", {}),
    "product link": ("See [Tent](<p:A1>).", "See [Tent](<p:A1>).", {}),
    "product link without angle brackets": ("See [Tent](p:A1).", "See [Tent](<p:A1>).", {}),
    "id with brackets": ("[X](<p:id with (brackets)>)", "[X](<p:id with (brackets)>)", {}),
    "angle link": ("See <Warm Tent|A1>!", "See [Warm Tent](<p:A1>)!", {}),
    "query link": ("Try [tent pegs](<q:tent pegs>).", "Try [tent pegs](<q:tent pegs>).", {}),
    "unknown product": ("See [Tent](<p:Z9>).", "See Tent.", {"unknown_product": 1}),
    "unknown angle product": ("See <Tent|Z9>.", "See Tent.", {"unknown_product": 1}),
    "web link": ("See [here](https://evil.example/x).", "See here.", {"link_removed": 1}),
    "script link": ("[go](javascript:void)", "go", {"link_removed": 1}),
    "coded script link": ("[go](&#106;avascript:x)", "go", {"link_removed": 1}),
    "empty target": ("[go]() [to](<q: >)", "go to", {"link_removed": 2}),
    "image": ("![alt](https://x/y.png) ok", "alt ok", {"image_removed": 1}),
    "image of a product": ("![alt](<p:A1>)", "alt", {"image_removed": 1}),
    "exclamation before a bracket": ("Great! [Tent](<p:A1>)", "Great! [Tent](<p:A1>)", {}),
    "html": ("a <b>bold</b> <br/> claim", "a bold  claim", {"html_removed": 3}),
    "script": ("<script>alert(1)</script>", "alert(1)", {"html_removed": 2}),
    "html over two lines": ("<img\nsrc=x\nonerror=alert(1)>", "", {"html_removed": 1}),
    "comment": ("a<!-- hidden -->b", "ab", {"html_removed": 1}),
    "tag in a tag": ("<<b>script>x", "‹script›x", {"html_removed": 1}),
    "comparison": ("3 < 5 and 7 > 2", "3 ‹ 5 and 7 › 2", {}),
    "reference link": ("[a][b] and [b]: ftp://x", "ab and b: ", {"url_removed": 1}),
    "bare addresses": ("At http://x.y/z or www.x.y now", "At  or  now", {"url_removed": 2}),
    "mail address": ("Ask me@shop.example now", "Ask  now", {"url_removed": 1}),
    "bare script": ("javascript:alert(1) x", " x", {"url_removed": 1}),
    "backslashes": ("\\[Tent\\](<p:A1>) a\\b", "[Tent](<p:A1>) ab", {}),
    "known prices": ("From $12.99 to $1,299 or $349.00.", "From $12.99 to $1,299 or $349.00.", {}),
    "known price elsewhere": ("Nur 1.299,00 € und 12,99 EUR", "Nur 1.299,00 € und 12,99 EUR", {}),
    "unknown price": ("Only $9.99!", "Only (see price)!", {"unknown_price": 1}),
    "unknown range": (
        "For $12.99-$20 or $12.99–349.",
        "For (see price) or $12.99–349.",
        {"unknown_price": 1},
    ),
    "unknown with a word": ("13 dollars, 20 USD", "(see price), (see price)", {"unknown_price": 2}),
    "unknown in a label": ("[Tent $5](<p:A1>)", "[Tent (see price)](<p:A1>)", {"unknown_price": 1}),
    "numbers that are no prices": (
        "A 2-person tent, 4 seasons, 1.3 kg",
        "A 2-person tent, 4 seasons, 1.3 kg",
        {},
    ),
    "cut link": ("See [Tent](<p:A", "See Tent", {"link_cut": 1}),
    "cut angle link": ("See <Tent|A", "See Tent", {"link_cut": 1}),
    "cut tag": ("See <a href=", "See ", {"link_cut": 1}),
    "titled link": (
        'See [Tent](<p:A1> "nice") and [Tent]( p:A1 ).',
        "See [Tent](<p:A1>) and [Tent](<p:A1>).",
        {},
    ),
    "titled image": ("![x](/a.png \"t\") ![y](http://e.example/b.png 't')", "x y", {"image_removed": 2}),
    "call in a target": ("[go](javascript:alert(1)) on", "go on", {"link_removed": 1}),
    "angle link behind a space": ("See < Tent|A1>.", "See ‹ Tent|A1›.", {}),
    "angle link with its kind": ("See <Tent|p:A1>.", "See [Tent](<p:A1>).", {}),
    "id in other letters": (
        "[T](<p:a1>) [T](<p:A%31>) [T](<P:A1>)",
        "T T T",
        {"unknown_product": 2, "link_removed": 1},
    ),
    "entities": (
        "&lt;script&gt;x &amp;lt;b&gt; R&D AT&T &unknown",
        "x &lt;b› R&D AT&T &unknown",
        {"html_removed": 1},
    ),
    "addresses without a scheme": (
        "At evil.com/x, //evil.com or shop.example.net. Then 2.5 mm",
        "At  //evil.com or shop.example.net. Then 2.5 mm".replace("//evil.com or shop.example.net.", " or ."),
        {"url_removed": 3},
    ),
    "unseen characters": (
        "$\u200b9 9\u200d9 \u20ac, java\u200bscript:x [T\u202e](<p:A\u200b1>) \U0001f468\u200d\U0001f469",
        "(see price) (see price),  [T](<p:A1>) \U0001f468\u200d\U0001f469",
        {"unknown_price": 2, "url_removed": 1},
    ),
    "a label that nobody sees": ("[\u200b](<p:A1>)x", "x", {}),
    "wide and foreign digits": (
        "\uff04\uff19\uff19, \u0661\u0662 \u20ac, \uff041299",
        "(see price), (see price), $1299",
        {"unknown_price": 2},
    ),
    "emphasis in a price": (
        "$**99** and **99** € and **1299** €",
        "(see price)** and **(see price) and **1299** €",
        {"unknown_price": 2},
    ),
    "a link in a price": (
        "$[99](<p:A1>) or [$](<p:A1>)99 or [99](<p:A1>) € or [12.99 $](<p:A1>)",
        "(see price) or (see price) or (see price) or 12.99 $",
        {"link_removed": 4, "unknown_price": 3},
    ),
    "prices side by side": (
        "10–20 € 10 - 20 EUR 1299 € 98 $ 1299 kr",
        "(see price) (see price) 1299 € (see price) 1299 kr",
        {"unknown_price": 3},
    ),
    "prices as they are written elsewhere": (
        "1 298,00 €, 1\u202f298 €, 1’298.– CHF, 98,- €, kr 98, Rs. 98, USD98, 98-dollar tent, 1 299,00 €",
        "(see price), (see price), (see price), (see price), (see price), (see price), (see price), "
        "(see price) tent, 1 299,00 €",
        {"unknown_price": 8},
    ),
    "prices in words": (
        "About twenty dollars or one hundred and five euros for one of the two tents",
        "About (see price) or (see price) for one of the two tents",
        {"unknown_price": 2},
    ),
    "words that are no currency": (
        "Try 3 of them, 20% off, model 13 $349 and 2 more",
        "Try 3 of them, 20% off, model 13 $349 and 2 more",
        {},
    ),
    "no spaces between words": (
        "只要$5元[帐篷](<p:A1>)",
        "只要(see price)元[帐篷](<p:A1>)",
        {"unknown_price": 1},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_text_is_shown_harmless_however_it_is_cut(case: str) -> None:
    """Every chunk size gives the same text and the same counts. Source: design, product links."""
    text, shown, counts = CASES[case]
    for size in range(1, len(text) + 1):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert grounded(pieces) == (shown, counts), size


@pytest.mark.parametrize("case", CASES)
def test_plain_text_has_no_links_at_all(case: str) -> None:
    """`clickableSummary=false` leaves labels."""
    shown, _ = grounded([CASES[case][0]], clickable=False)
    assert "](" not in shown


def test_the_shoppers_own_amount_may_be_repeated() -> None:
    """A limit from the query is no claim about a product."""
    assert grounded(["Tents under $50 and $60"], query="tent under 50 dollars") == (
        "Tents under $50 and (see price)",
        {"unknown_price": 1},
    )


def test_another_language_gets_a_sign_instead_of_words() -> None:
    """English words have no place in a German sentence."""
    check = PriceCheck(PRICES, locale="de-DE")
    assert check.neutralise("Nur 9,99 €!") == ("Nur …!", 1)


def test_text_is_shown_as_soon_as_it_is_decided() -> None:
    """A link holds back only itself, a word only what may be a price."""
    text = GroundedText(SENT, PriceCheck(PRICES))
    assert text.feed("Look at the ") == "Look at the "
    assert text.feed("warm [Tent](<p:") == "warm "
    assert text.feed("A1>) for") == "[Tent](<p:A1>) "
    assert text.feed(" $12") == "for "
    assert text.feed(".99 only") == ""
    assert text.feed(" now") == "$12.99 only "
    assert text.close() == "now"


hostile = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "[",
                "]",
                "(",
                ")",
                "<",
                ">",
                "!",
                "|",
                "\\",
                "p:",
                "q:",
                "A1",
                "](<p:A1>)",
                "<script>",
                "javascript:",
            ]
            + ["[a](<p:A1>)", "<a|A1>", "![", "[x](", "http://e.v", "\n", " ", "$5", "&lt;", "<!--", "`", "*"]
        ),
        st.text(max_size=8),
    ),
    max_size=40,
)


@given(hostile)
def test_nothing_but_our_own_links_is_left_in_any_text(pieces: list[str]) -> None:
    """Take our links out, and no bracket that could form another is there."""
    shown, _ = grounded(pieces)
    links = OUR_LINK.findall(shown)
    assert all(kind == "q" or target in SENT for _, kind, target in links)
    assert not set(OUR_LINK.sub("", shown)) & set("[]<>\\")
    assert "javascript:" not in shown.lower()


@given(hostile, st.integers(min_value=1, max_value=50))
def test_where_the_stream_is_cut_changes_nothing(pieces: list[str], size: int) -> None:
    """One text, one result, unless a word is longer than may be held."""
    text = "".join(pieces)
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    if max((len(word) for word in text.split()), default=0) < 100:
        assert grounded(cut) == grounded([text])


@pytest.mark.parametrize(
    "unit", ["word ", "[", "<", "<a", "[a](", "x", "$1 ", "![", "one ", "&#", "a.", "[x](y(z"]
)
def test_the_cost_is_linear_in_the_length(unit: str) -> None:
    """Eight times the text takes nowhere near sixty-four times the work."""

    def cost(repeats: int) -> float:
        pieces = [unit] * repeats
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            grounded(pieces)
            best = min(best, time.process_time() - started)
        return best

    assert cost(4000) < 24 * max(cost(500), 0.002)
