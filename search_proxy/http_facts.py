"""The trusted facts of a request, signed for the way between two processes of ours.

The gateway signs caller, settings and request id together with method, path and query; the other side takes
them only with a signature that is a few seconds old at most. What is signed is not secret: the connection has
to be private or TLS, as between any two parts of one deployment.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from search_proxy.accounts.prompt_slots import LivePrompts
from search_proxy.accounts.settings_schema import SettingsSnapshot, readable_settings
from search_proxy.caller import Caller
from search_proxy.errors import AccessDenied
from search_proxy.filters import parse_filter

FACTS_HEADER = "x-aisle-facts"
SIGNATURE_HEADER = "x-aisle-signature"

FRESH_SECONDS = 30.0
"""How old, or by clock skew how young, a signature may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the gateway vouches for; `settings` is absent where the other side does not need them."""

    caller: Caller
    settings: SettingsSnapshot | None = None


class FactsSigner:
    """Signs and checks facts with a key that both sides hold."""

    def __init__(self, shared_key: str, *, now: Callable[[], float] = time.time) -> None:
        if len(shared_key) < 32:
            raise ValueError("the shared key has to have at least 32 characters")
        self._key = shared_key.encode()
        self._now = now

    def headers(self, facts: Facts, method: str, target: str) -> dict[str, str]:
        """Return the headers that carry `facts` for one request; `target` is path and query."""
        text = base64.b64encode(orjson.dumps({"at": self._now(), **_as_json(facts)})).decode()
        return {FACTS_HEADER: text, SIGNATURE_HEADER: self._signature(text, method, target)}

    def facts(self, headers: Mapping[str, str], method: str, target: str) -> Facts:
        """Return the facts of a request.

        Raises:
            AccessDenied: They are absent, not signed with our key for this request, or too old.
        """
        text = headers.get(FACTS_HEADER, "")
        expected = self._signature(text, method, target)
        given = headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(expected.encode(), given.encode()):
            raise AccessDenied("the request is not signed by the gateway")
        try:
            values = orjson.loads(base64.b64decode(text, validate=True))
        except (binascii.Error, orjson.JSONDecodeError) as error:
            raise AccessDenied("the request's facts cannot be read") from error
        if abs(self._now() - values["at"]) > FRESH_SECONDS:
            raise AccessDenied("the request's signature is too old")
        return _from_json(values)

    def _signature(self, text: str, method: str, target: str) -> str:
        signed = "\n".join((method, target, text)).encode()
        return hmac.new(self._key, signed, hashlib.sha256).hexdigest()


def _as_json(facts: Facts) -> dict[str, Any]:
    caller = facts.caller
    values: dict[str, Any] = {
        "caller": {
            "account_id": caller.account_id,
            "key_kind": caller.key_kind,
            "key_id": caller.key_id,
            "groups": sorted(caller.groups),
            "forced_filter": None if caller.forced_filter is None else str(caller.forced_filter),
            "indexes": None if caller.indexes is None else sorted(caller.indexes),
            "request_id": caller.request_id,
        }
    }
    if facts.settings is not None:
        values["settings"] = {
            "values": facts.settings.settings.model_dump(mode="json"),
            "version": facts.settings.version,
            "prompts": facts.settings.prompts.model_dump(mode="json"),
        }
    return values


def _from_json(values: Mapping[str, Any]) -> Facts:
    caller = values["caller"]
    text, indexes = caller["forced_filter"], caller["indexes"]
    settings = values.get("settings")
    return Facts(
        caller=Caller(
            account_id=caller["account_id"],
            key_kind=caller["key_kind"],
            key_id=caller["key_id"],
            groups=frozenset(caller["groups"]),
            forced_filter=None if text is None else parse_filter(text),
            indexes=None if indexes is None else frozenset(indexes),
            request_id=caller["request_id"],
        ),
        settings=None
        if settings is None
        else SettingsSnapshot(
            settings=readable_settings(settings["values"]),
            version=settings["version"],
            prompts=LivePrompts.model_validate(settings["prompts"]),
        ),
    )
