"""Web origins, compared exactly: scheme, host and port, nothing like a pattern.

A pattern such as "ends with shop.example" also admits evilshop.example; an exact list admits what it says.
"""

from __future__ import annotations

from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


def canonical_origin(text: str) -> str:
    """Return the origin as a browser sends it: `https://shop.example`, default port left out.

    Raises:
        ValueError: The text is not exactly one http or https origin.
    """
    wrong = f"{text!r} is not an origin such as 'https://shop.example' (no path, no '*')"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(wrong) from error
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not plain or "*" in text:
        raise ValueError(wrong)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown_port = "" if port is None or port == _DEFAULT_PORTS[parts.scheme] else f":{port}"
    return f"{parts.scheme}://{host}{shown_port}"


def is_same_origin(origin: str, host_header: str) -> bool:
    """Return whether a page of `origin` was served under the request's own `Host`."""
    return bool(host_header) and origin.partition("://")[2] == host_header.lower()


def is_loopback_host(host_header: str) -> bool:
    """Return whether a `Host` names this machine's loopback, so that no outside name was resolved to it."""
    try:
        return urlsplit(f"//{host_header}").hostname in _LOOPBACK_HOSTS
    except ValueError:
        return False


def is_loopback_origin(origin: str) -> bool:
    """Return whether a page of `origin` was served from this machine."""
    return is_loopback_host(origin.partition("://")[2])
