"""What a call to the model proves itself with: an API key, or a Vertex AI access token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import google.auth
import google.auth.exceptions
import google.auth.transport.requests

from worker.llm.language_model import ModelError

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


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


class VertexCredentials:
    """Application default credentials; the token is refreshed in a thread, one refresh at a time."""

    def __init__(self, credentials: Any = None) -> None:
        self._credentials = credentials
        self._refreshing = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        """Return the bearer token and, where one is set, the project that pays."""
        if self._credentials is None or not self._credentials.valid:
            async with self._refreshing:
                if self._credentials is None or not self._credentials.valid:
                    await asyncio.to_thread(self._refresh)
        headers = {"Authorization": f"Bearer {self._credentials.token}"}
        project = getattr(self._credentials, "quota_project_id", None)
        return headers | ({"x-goog-user-project": project} if project else {})

    def _refresh(self) -> None:
        try:
            if self._credentials is None:
                self._credentials, _ = google.auth.default(scopes=_SCOPES)
            self._credentials.refresh(google.auth.transport.requests.Request())
        except google.auth.exceptions.GoogleAuthError as error:
            raise ModelError("invalid_key", f"no Vertex credentials: {error}") from error
