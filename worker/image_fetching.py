"""Fetches an image that a client only points at: from allowed hosts, without redirects, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp

from search_proxy.web.addresses import AddressRefused, AllowAddress, CheckedResolver, is_public
from worker.errors import InvalidRequest, PayloadTooLarge

MAX_URL_CHARACTERS = 2_048
_CHUNK_BYTES = 64 * 1024


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
        timeout = aiohttp.ClientTimeout(total=self._timeout_seconds)
        connector = aiohttp.TCPConnector(resolver=CheckedResolver(self._allow_address), use_dns_cache=False)
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector, timeout=timeout, auto_decompress=False, trust_env=False
                ) as session,
                session.get(
                    url, allow_redirects=False, headers={"Accept": "image/*", "Accept-Encoding": "identity"}
                ) as response,
            ):
                if response.status != 200:
                    redirects = ", and redirects are not followed" if 300 <= response.status < 400 else ""
                    raise InvalidRequest(f"{name} answered with status {response.status}{redirects}")
                return await _read(response, name, max_bytes)
        except AddressRefused as error:
            raise InvalidRequest(f"{name} is at an address that is not public") from error
        except TimeoutError as error:
            raise InvalidRequest(f"{name} did not arrive within {self._timeout_seconds} s") from error
        except aiohttp.ClientError as error:
            if isinstance(error.__cause__, AddressRefused):
                raise InvalidRequest(f"{name} is at an address that is not public") from error
            raise InvalidRequest(f"{name} could not be fetched") from error

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


async def _read(response: aiohttp.ClientResponse, name: str, max_bytes: int) -> bytes:
    if response.content_length is not None and response.content_length > max_bytes:
        raise PayloadTooLarge(f"{name} has {response.content_length} bytes; at most {max_bytes} are allowed")
    received = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        received += chunk
        if len(received) > max_bytes:
            raise PayloadTooLarge(f"{name} has more than {max_bytes} bytes; at most {max_bytes} are allowed")
    return bytes(received)


def _is_address(host: str) -> bool:
    return ":" in host or all(part.isdigit() for part in host.split("."))
