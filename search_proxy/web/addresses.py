"""Decides which addresses may be connected to: public ones alone, whatever a name resolves to.

The address is checked where the connection takes it from, after resolution, and the connection goes to the
very address that was checked; so a name that resolves anew to something private a moment later is no way in.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

_NAT64 = ipaddress.ip_network("64:ff9b::/96")

AllowAddress = Callable[[str], bool]


class AddressRefused(OSError):
    """A name resolved to an address that nothing may be fetched from."""


def is_public(address: str) -> bool:
    """Return whether an address is on the public internet; IPv4 carried inside IPv6 is looked at too."""
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.teredo is not None:
            return False
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner is None and parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def is_address(host: str) -> bool:
    """Return whether a host is written as an address, in any of the ways that resolvers understand."""
    try:
        ipaddress.ip_address(host.strip("[]").split("%", 1)[0])
    except ValueError:
        # `127.1`, `0x7f000001` and `2130706433` are addresses to a resolver.
        return bool(host) and host.rsplit(".", 1)[-1].lower().startswith(tuple("0123456789"))
    return True
