"""The text of an HTML description: no tags, scripts or styles, one blank where blocks meet."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_LOOKS_LIKE_HTML = re.compile(r"<(?:[a-zA-Z][\w\-]*[\s/>]|/[a-zA-Z]|!--)")
_BLANKS = re.compile(r"\s+")
_INLINE = frozenset(
    (
        *(
            "a",
            "abbr",
            "b",
            "bdi",
            "bdo",
            "cite",
            "code",
            "em",
            "font",
            "i",
            "kbd",
            "mark",
            "q",
            "s",
            "small",
        ),
        *("span", "strong", "sub", "sup", "u"),
    )
)
_UNREAD = frozenset(("script", "style", "template", "noscript"))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unread += tag in _UNREAD
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in _UNREAD and self._unread > 0
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.parts.append(data)

    def _separate(self, tag: str) -> None:
        if tag not in _INLINE:
            self.parts.append(" ")


def plain_text(text: str) -> str:
    """Return the text without markup; text that holds no tag is returned as it is, but for outer blanks."""
    if not _LOOKS_LIKE_HTML.search(text):
        return text.strip()
    parser = _Text()
    parser.feed(text)
    parser.close()
    return _BLANKS.sub(" ", "".join(parser.parts)).strip()
