"""Vertex AI access tokens from google-auth, which works with threads and the requests library.

In a module of its own, so that a worker with an API key does not load either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import google.auth
import google.auth.exceptions
import google.auth.transport.requests

from worker.llm.language_model import ModelError

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


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
