"""HTTP/1.1 as uvicorn speaks it with httptools, but for URLs that hold a whole payload.

httptools parses URLs of at most 64 KiB; a payload of 64 KiB is a third longer as base64. The query of a long
URL is therefore taken off before the parser sees it and put back behind it.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_PARSED_URL = 65_000
LONGEST_URL = 256 * 1024
"""A longer one is refused while it arrives; the limit of a payload is said at 88 KiB already."""


class LongUrlProtocol(HttpToolsProtocol):
    """One connection."""

    def on_url(self, url: bytes) -> None:
        """Take a piece of the URL, up to the bound."""
        super().on_url(url)
        if len(self.url) > LONGEST_URL:
            raise ValueError(f"a URL has at most {LONGEST_URL} bytes")

    def on_headers_complete(self) -> None:
        """Start the request; the application runs only after this has returned."""
        if len(self.url) <= LONGEST_PARSED_URL:
            super().on_headers_complete()
            return
        self.url, _, query = self.url.partition(b"?")
        super().on_headers_complete()
        self.scope["query_string"] = query
