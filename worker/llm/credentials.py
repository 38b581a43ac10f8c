"""What a call to the model proves itself with: an API key here, a Vertex AI token in its own module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class Credentials(Protocol):
    """Gives the headers that authenticate one call."""

    async def headers(self) -> Mapping[str, str]:
        """Return the headers, from memory where possible.

        Raises:
            ModelError: There is nothing to authenticate with.
        """
        ...


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key, sent in a header so that no log of URLs holds it."""

    key: str = field(repr=False)

    async def headers(self) -> Mapping[str, str]:
        """Return the key's header."""
        return {"x-goog-api-key": self.key}
