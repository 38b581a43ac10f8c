"""Who may administer: a secret key of the account without index restrictions, or the open demo account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from search_proxy.accounts.account_office import AccountOffice
from search_proxy.accounts.grant import Grant
from search_proxy.caller import Caller
from search_proxy.edge_services import EdgeServices
from search_proxy.gateway_errors import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    """The administrator of one account, as the door has recognised them."""

    office: AccountOffice
    edge: EdgeServices
    caller: Caller
    grant: Grant

    @property
    def account_id(self) -> str:
        """The one account that this administrator changes."""
        return self.caller.account_id

    @property
    def key_id(self) -> str:
        """The key that was used."""
        return self.caller.key_id

    @property
    def actor(self) -> str:
        """Who the audit log names."""
        return f"key {self.key_id}" if self.key_id else self.caller.key_kind

    def require_operator(self) -> None:
        """Refuse what goes beyond one's own account.

        Raises:
            Refusal: 403 without an operator key.
        """
        if not self.grant.operator:
            raise Refusal(403, "this needs an operator key (aisle key create --operator)")


def admin_of(request: Request) -> Admin:
    """Return the administrator of this request.

    Raises:
        Refusal: 403 for a key restricted to certain indexes, 404 where this server keeps no accounts.
    """
    edge: EdgeServices = request.state.edge
    caller: Caller = request.state.caller
    if edge.office is None:
        raise Refusal(404, "this server keeps no accounts")
    if caller.indexes is not None:
        raise Refusal(403, "a key that is restricted to certain indexes does not administer the account")
    return Admin(office=edge.office, edge=edge, caller=caller, grant=request.state.grant)


AdminOf = Annotated[Admin, Depends(admin_of)]
"""A route's parameter of this type is the request's administrator."""
