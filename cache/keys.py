"""Says which questions are the same question.

The text of a key is `{accountId}#{indexName}#{normalized_query}`, so that an operator can read one
entry with a plain `get-item`; a fourth part stands where the request differs from the account's
defaults. `#` and `%` are escaped inside the parts: two different questions never share a text, and
no query can spell the key of another account. Source: flow document, step 3; design, decision 14.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import xxhash

from cache.errors import InvalidKey

MAX_KEY_BYTES = 1024
"""Half of what DynamoDB takes as a partition key; a longer question is nobody else's question."""

_VARIANT_BYTES = 16
"""128 bits: a shopper who writes filters cannot make two of them meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryKey:
    """One question of one account to one index. Made by `QueryKey.of`, which normalizes and checks."""

    account_id: str
    index: str
    query: str
    """Normalized."""
    variant: str
    """Empty for the account's defaults, else the hash of what differs."""
    text: str
    scope: str
    """`{accountId}#{indexName}`, escaped: what one membership filter covers."""
    fingerprint: int
    """64 bits of the text, the same in every process and version."""

    @classmethod
    def of(cls, account_id: str, index: str, query: str, variant: str | None = None) -> QueryKey:
        """Return the key of a question.

        Raises:
            InvalidKey: A part is empty or not encodable, or the key would be over `MAX_KEY_BYTES`.
        """
        if len(query) > MAX_KEY_BYTES:
            raise InvalidKey(f"query has {len(query)} characters, at most {MAX_KEY_BYTES} are looked up")
        normalized = normalize_query(query)
        for name, part in (("account", account_id), ("index", index), ("query", normalized)):
            if not part:
                raise InvalidKey(f"{name} of a cache key is empty")
        scope = scope_of(account_id, index)
        text = f"{scope}#{_escape(normalized)}"
        if variant:
            text = f"{text}#{_escape(variant)}"
        try:
            encoded = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidKey(f"cache key holds an unpaired surrogate at {error.start}") from error
        if len(encoded) > MAX_KEY_BYTES:
            raise InvalidKey(f"cache key has {len(encoded)} bytes, at most {MAX_KEY_BYTES} are stored")
        return cls(
            account_id=account_id,
            index=index,
            query=normalized,
            variant=variant or "",
            text=text,
            scope=scope,
            fingerprint=fingerprint_of(text),
        )

    @classmethod
    def from_text(cls, text: str) -> QueryKey:
        """Return the key that has this text.

        Raises:
            InvalidKey: No key has this text.
        """
        parts = [_unescape(part) for part in text.split("#")]
        if len(parts) not in (3, 4) or (len(parts) == 4 and not parts[3]):
            raise InvalidKey(f"{text!r} is not account#index#query")
        key = cls.of(*parts)
        if key.text != text:
            raise InvalidKey(f"{text!r} is not normalized; the key of this question is {key.text!r}")
        return key


def normalize_query(query: str) -> str:
    """Return the query as every spelling of it is stored: NFKC, case folded, white space collapsed.

    The order of the Unicode steps is the standard's compatibility caseless match, so that normalizing
    twice changes nothing. Source: Unicode 3.13, D146.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", query).casefold()).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def scope_of(account_id: str, index: str) -> str:
    """Return `{accountId}#{indexName}`, escaped."""
    return f"{_escape(account_id)}#{_escape(index)}"


def account_of(scope: str) -> str:
    """Return the account that a scope belongs to."""
    return _unescape(scope.split("#", 1)[0])


def index_of(scope: str) -> str:
    """Return the index that a scope belongs to."""
    return _unescape(scope.split("#", 1)[-1])


def fingerprint_of(text: str) -> int:
    """Return 64 bits of a key's text; filters and overlays of every process agree on them."""
    return xxhash.xxh3_64_intdigest(text.encode())


def variant_of(options: Mapping[str, Any]) -> str | None:
    """Return the hash of what differs from the account's defaults, None where nothing does.

    `options` is JSON: locale, client filter, limits. Key order does not matter, types do.
    """
    if not options:
        return None
    canonical = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(canonical, digest_size=_VARIANT_BYTES).hexdigest()


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace("#", "%23")


def _unescape(part: str) -> str:
    return part.replace("%23", "#").replace("%25", "%")
