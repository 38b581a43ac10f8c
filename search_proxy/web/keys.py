"""What web search is set up with: the keys of its providers, and where these are."""

from __future__ import annotations

from dataclasses import dataclass

TAVILY_URL = "https://api.tavily.com"
GOOGLE_URL = "https://customsearch.googleapis.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSearchKeys:
    """What is set up; Google needs both its key and the id of a search engine."""

    tavily_key: str | None = None
    google_key: str | None = None
    google_engine: str | None = None
    tavily_url: str = TAVILY_URL
    google_url: str = GOOGLE_URL

    @property
    def are_set(self) -> bool:
        """Whether there is a provider to ask."""
        return bool(self.tavily_key or self.google_key and self.google_engine)
