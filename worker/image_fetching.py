"""Fetches an image that a client only points at: from allowed hosts, without redirects, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from search_proxy.first_use import loaded
from search_proxy.web.addresses import AllowAddress, is_public
from worker.errors import InvalidRequest

MAX_URL_CHARACTERS = 2_048


class ImageFetcher:
    """Fetches images from a list of hosts, which is empty unless the operator has named some.

    `allowed_hosts` has names as they stand in a URL, `cdn.example.com` or `cdn.example.com:8443`.
    """

    def __init__(
        self,
        allowed_hosts: Sequence[str] = (),
        *,
        schemes: Sequence[str] = ("https",),
        timeout_seconds: float = 5.0,
        allow_address: AllowAddress = is_public,
    ) -> None:
        self._allowed_hosts = frozenset(host.casefold() for host in allowed_hosts)
        self._schemes = tuple(schemes)
        self._timeout_seconds = timeout_seconds
        self._allow_address = allow_address

    async def fetch(self, url: str, name: str, max_bytes: int) -> bytes:
        """Return the bytes at `url`; `name` is what errors call it.

        Raises:
            InvalidRequest: The URL is not allowed, or does not give an image.
            PayloadTooLarge: There are more than `max_bytes`.
        """
        self._check(url, name)
        downloading = await loaded("worker.image_download")
        data: bytes = await downloading.download(
            url, name, max_bytes, seconds=self._timeout_seconds, allow_address=self._allow_address
        )
        return data

    def _check(self, url: str, name: str) -> None:
        if len(url) > MAX_URL_CHARACTERS:
            raise InvalidRequest(f"{name} has {len(url)} characters; a URL has at most {MAX_URL_CHARACTERS}")
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").casefold(), parts.port
        except ValueError as error:
            raise InvalidRequest(f"{name} is not a URL") from error
        if parts.scheme not in self._schemes or not host:
            raise InvalidRequest(f"{name} must be a data: or {self._schemes[0]}: URL")
        if parts.username is not None or parts.password is not None:
            raise InvalidRequest(f"{name} must not contain a user or password")
        if (host if port is None else f"{host}:{port}") not in self._allowed_hosts:
            raise InvalidRequest(
                f"{name} points to host {host!r}, which is not allowed; send the image itself, as base64"
            )
        if _is_address(host) and not self._allow_address(host.strip("[]")):
            raise InvalidRequest(f"{name} is at an address that is not public")


def _is_address(host: str) -> bool:
    return ":" in host or all(part.isdigit() for part in host.split("."))
