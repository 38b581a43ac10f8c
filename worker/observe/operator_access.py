"""Who may see the whole server: this machine, or whoever holds an operator's secret key.

For this machine both ends have to be the loopback, by address and by the name that was asked for: a page on
the web can point a name of its own at 127.0.0.1, but then the name is its own.
"""

from __future__ import annotations

import ipaddress

from starlette.requests import Request

from search_proxy.accounts.directory import AccountDirectory
from search_proxy.accounts.origins import is_loopback_host


def is_operator(request: Request, accounts: AccountDirectory) -> bool:
    """Return whether the request carries an operator's key, as a bearer or as `x-api-key`."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    token = bearer.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
    grant = accounts.identify(token) if token else None
    return grant is not None and grant.operator


def is_on_this_machine(request: Request) -> bool:
    """Return whether the request comes from this machine and asked for it by a loopback name."""
    address = request.client.host if request.client is not None else ""
    try:
        is_loopback = ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
    return is_loopback and is_loopback_host(request.headers.get("host", ""))
