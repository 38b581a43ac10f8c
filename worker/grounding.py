"""Makes a model's text safe to show, piece by piece as it streams.

What comes out holds no link but `[label](<p:ID>)` to a product sent in this stream and
`[label](<q:text>)` to a follow-up query, no HTML, no image, no URL, and no price that no sent product
has. Links hold by construction: every other bracket is taken out, so that no renderer can form one.
"""

from __future__ import annotations

import html
import re
import string
from collections import Counter
from collections.abc import Collection

from worker.summary_prices import SIGNS, PriceCheck, may_hold_price, splits_price

_SPECIAL = re.compile(r"[\[\]<>\\]")
_BARE = r"[^\s()<>]{0,300}(?:\([^\s()<>]{0,100}\)[^\s()<>]{0,100})?"
_TITLE = r"(?:\s(?:\"[^\"\[\]<>\n]{0,100}\"|'[^'\[\]<>\n]{0,100}'))?"
_LINK = re.compile(rf"\[([^\[\]<>\n]{{0,200}})\]\([ ]?(?:<([^<>\n]{{0,300}})>|({_BARE})){_TITLE}[ ]?\)")
_ANGLE = re.compile(r"<(?!\s)([^<>|\n]{1,200})\|([^<>|\n]{1,200})>")
_TAG = re.compile(r"<[A-Za-z/!?][^<>]{0,400}>")
_UNDECIDED = re.compile(
    r"\[[^\[\]<>\n]{0,200}(?:\](?:\([ ]?(?:<[^<>\n]{0,300}>?|[^\s()<>]{0,300}(?:\([^\s()<>]{0,100}"
    r"(?:\)[^\s()<>]{0,100})?)?)(?:\s(?:\"[^\"\[\]<>\n]{0,100}\"?|'[^'\[\]<>\n]{0,100}'?)?)?[ ]?)?)?"
    r"|<(?!\s)[^<>]{0,400}"
)
"""A start that may still become a link or a tag; what is longer or broken will not."""
_DIGITS = "".join(chr(first + digit) for first in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for digit in range(10))
_WITHIN_WORD = string.ascii_letters + string.digits + string.punctuation + SIGNS + "–—’" + _DIGITS
_IN_WORD = f"[{re.escape(_WITHIN_WORD)}]"
_URL = re.compile(
    rf"(?:javascript|vbscript):{_IN_WORD}*|(?:data|file|mailto):{_IN_WORD}+|[a-z][a-z0-9+.-]{{0,19}}://{_IN_WORD}*"
    rf"|\bwww\.{_IN_WORD}+|[\w.+-]{{1,64}}@[\w-]{{1,64}}\.\w+|(?<![\w/])//[\w-]{{1,64}}\.{_IN_WORD}+"
    r"|\b(?:[\w-]{1,64}\.){1,8}(?-i:com|net|org|info|biz|shop|ru|cn|io)\b(?:/"
    rf"{_IN_WORD}*)?",
    re.ASCII | re.IGNORECASE,
)
_MAY_HOLD_URL = re.compile(r"[:@/]|\.\S")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CUT_ENTITY = re.compile(r"&(?:#[xX]?[0-9a-fA-F]{0,7}|[A-Za-z][A-Za-z0-9]{0,31})?\Z")
_UNSEEN = {
    **dict.fromkeys(
        (*range(9), *range(11, 32), *range(127, 160), 0xAD, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF)
    ),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2060, 0x2070))),
    # A sign and its digits in another width are the same price.
    **{0xFF10 + digit: str(digit) for digit in range(10)},
    **{0xFF04: "$", 0xFFE1: "£", 0xFFE5: "¥", 0xFFE6: "₩", 0xFF0C: ",", 0xFF0E: "."},
}
"""Characters that nobody sees and that could keep apart what a reader sees together."""
_JOINERS = re.compile(rf"(?<=[{re.escape(_WITHIN_WORD)}])[\u200c\u200d]+")
_SHOWN_ALONE = {"<": "‹", ">": "›"}
_BRACKETS = str.maketrans("", "", "[]<>\\")
_OF_AMOUNTS = string.digits + string.whitespace + ".,'’-–—*_`~" + SIGNS
_MAX_HELD = 400
"""A longer word is given out as it is; no price and no link is that long."""
_LONGEST_AMOUNT = 64


class GroundedText:
    """Takes pieces of a model's text and gives what may be shown; `counts` says what was taken out.

    Args:
        sent_ids: Ids of the products sent in this stream.
        prices: The prices that may be named.
        clickable: False leaves the labels of links and nothing else of them.
    """

    def __init__(self, sent_ids: Collection[str], prices: PriceCheck, *, clickable: bool = True) -> None:
        self.counts: Counter[str] = Counter()
        self._sent_ids = frozenset(sent_ids)
        self._prices = prices
        self._clickable = clickable
        self._held = ""
        self._entity = ""
        self._last = ""
        self._plain: list[str] = []
        self._chain = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was taken out, as `name=count`."""
        return tuple(f"{name}={count}" for name, count in self.counts.items())

    def feed(self, text: str) -> str:
        """Return what may be shown after this piece of text; the rest is held until it is decided."""
        return self._feed(self._as_seen(text))

    def _feed(self, text: str) -> str:
        shown: list[str] = []
        text, self._held = self._held + text, ""
        at = 0
        while special := _SPECIAL.search(text, at):
            start = special.start()
            self._plain.append(text[at:start])
            end = self._bracket(text, start, shown)
            if end is None:
                self._held = text[start:]
                at = len(text)
                break
            at = end
        self._plain.append(text[at:])
        shown.append(self._settled())
        return "".join(shown)

    def close(self) -> str:
        """Return what was still held; an unfinished link leaves its label, an unfinished tag nothing."""
        entity, self._entity = self._entity, ""
        shown = self._feed(entity)
        held, self._held = self._held, ""
        if held:
            self.counts["link_cut"] += 1
            label = held[1:].partition("|")[0] if "|" in held else held[1:].partition("](")[0]
            if held[0] == "[" or "|" in held:
                self._plain.append(label.translate(_BRACKETS))
        return shown + self._flush()

    def _as_seen(self, text: str) -> str:
        """Return the text as it looks on a page: entities are characters, what nobody sees is not there."""
        if self._entity or "&" in text:
            text = self._entity + text
            cut = _CUT_ENTITY.search(text)
            self._entity = cut[0] if cut else ""
            text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text[: cut.start()] if cut else text)
        if not (text.isascii() and text.isprintable()):
            text = _JOINERS.sub("", self._last + text.translate(_UNSEEN))[len(self._last) :]
        self._last = text[-1:] or self._last
        return text

    def _bracket(self, text: str, start: int, shown: list[str]) -> int | None:
        """Handle the bracket at `start` and return where to go on; None waits for more text."""
        bracket = text[start]
        if bracket == "[" and (link := _LINK.match(text, start)):
            self._link(link[1], link[3] if link[2] is None else link[2], shown)
            return link.end()
        if bracket == "<" and (angle := _ANGLE.match(text, start)):
            self._link(angle[1], f"p:{angle[2].removeprefix('p:')}", shown)
            return angle.end()
        if bracket == "<" and (tag := _TAG.match(text, start)):
            self.counts["html_removed"] += 1
            return tag.end()
        undecided = _UNDECIDED.match(text, start)
        if undecided is not None and undecided.end() == len(text):
            return None
        self._plain.append(_SHOWN_ALONE.get(bracket, ""))
        return start + 1

    def _link(self, label: str, target: str, shown: list[str]) -> None:
        label = label.translate(_BRACKETS)
        kind, _, value = target.partition(":")
        value = value.strip() if kind == "p" else _URL.sub("", value).strip()
        if self._ends_with_image_mark():
            self.counts["image_removed"] += 1
        elif kind == "p" and value not in self._sent_ids:
            self.counts["unknown_product"] += 1
        elif kind not in ("p", "q") or not value or splits_price("".join(self._plain), label):
            self.counts["link_removed"] += 1
        elif self._clickable and (clean := self._clean(label)).strip():
            shown += (self._flush(), f"[{clean}](<{kind}:{value}>)")
            return
        self._plain.append(label)

    def _ends_with_image_mark(self) -> bool:
        last = next((part for part in reversed(self._plain) if part), "")
        if not last.endswith("!"):
            return False
        self._plain.append("".join(self._plain)[:-1])
        del self._plain[:-1]
        return True

    def _settled(self) -> str:
        """Return the plain text up to where a price, a URL or an image may still be growing."""
        plain = "".join(self._plain)
        cut = len(plain.rstrip(_WITHIN_WORD))
        while len(plain) - cut <= _MAX_HELD:
            before = plain[:cut].rstrip()
            if not self._prices.may_continue(before):
                break
            # What was held before its last word was held because each of its words may go on.
            # An end in a foreign digit is no end of a word here.
            cut = min(len(before.rstrip(_WITHIN_WORD)), len(before) - 1) if cut > self._chain else 0
        else:
            cut = len(plain.rstrip(_OF_AMOUNTS))
            if len(plain) - cut > _LONGEST_AMOUNT:
                cut = len(plain)
        self._plain = [plain[cut:]]
        self._chain = len(plain[cut:].rstrip(_WITHIN_WORD))
        return self._clean(plain[:cut])

    def _flush(self) -> str:
        plain, self._plain, self._chain = "".join(self._plain), [], 0
        return self._clean(plain)

    def _clean(self, text: str) -> str:
        # Most pieces are a word or two: what cannot be in them is not looked for.
        text, urls = _URL.subn("", text) if _MAY_HOLD_URL.search(text) else (text, 0)
        text, prices = self._prices.neutralise(text) if may_hold_price(text) else (text, 0)
        for name, number in (("url_removed", urls), ("unknown_price", prices)):
            if number:
                self.counts[name] += number
        return text
