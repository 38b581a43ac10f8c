"""Downloads one image over a connection to an allowed address; loaded with the first one of a process."""

from __future__ import annotations

import aiohttp

from search_proxy.web.addresses import AddressRefused, AllowAddress
from search_proxy.web.checked_resolver import CheckedResolver
from worker.errors import InvalidRequest, PayloadTooLarge

_CHUNK_BYTES = 64 * 1024


async def download(
    url: str, name: str, max_bytes: int, *, seconds: float, allow_address: AllowAddress
) -> bytes:
    """Return the bytes at `url`; `name` is what errors call it.

    Raises:
        InvalidRequest: It is at an address that is not allowed, or does not give an image in time.
        PayloadTooLarge: There are more than `max_bytes`.
    """
    timeout = aiohttp.ClientTimeout(total=seconds)
    connector = aiohttp.TCPConnector(resolver=CheckedResolver(allow_address), use_dns_cache=False)
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
        raise InvalidRequest(f"{name} did not arrive within {seconds} s") from error
    except aiohttp.ClientError as error:
        if isinstance(error.__cause__, AddressRefused):
            raise InvalidRequest(f"{name} is at an address that is not public") from error
        raise InvalidRequest(f"{name} could not be fetched") from error


async def _read(response: aiohttp.ClientResponse, name: str, max_bytes: int) -> bytes:
    if response.content_length is not None and response.content_length > max_bytes:
        raise PayloadTooLarge(f"{name} has {response.content_length} bytes; at most {max_bytes} are allowed")
    received = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        received += chunk
        if len(received) > max_bytes:
            raise PayloadTooLarge(f"{name} has more than {max_bytes} bytes; at most {max_bytes} are allowed")
    return bytes(received)
