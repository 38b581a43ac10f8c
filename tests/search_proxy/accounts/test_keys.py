"""Keys: random, recognised by a hash, compared in constant time by construction."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import search_proxy.accounts
from search_proxy.accounts.keys import is_the_key, key_id_of, mint, secret_hash, signing_key
from search_proxy.accounts.origins import canonical_origin

_COMPARED = ("hash", "signature", "signing", "token")


def test_a_key_names_its_kind_and_its_id() -> None:
    """`pk_{id}_{secret}` and `sk_{id}_{secret}`."""
    key_id, token = mint("publishable")
    assert token.startswith(f"pk_{key_id}_")
    assert key_id_of(token) == key_id
    assert mint("secret")[1].startswith("sk_")


def test_a_thousand_keys_are_a_thousand_ids_and_secrets() -> None:
    """Both halves are random."""
    minted = [mint("secret") for _ in range(1_000)]
    assert len({key_id for key_id, _ in minted}) == 1_000
    assert len({token.rpartition("_")[2] for _, token in minted}) == 1_000


@pytest.mark.parametrize(
    "text", ["", "pk_", "pk_short_x", "xx_000000000000_" + "0" * 32, "sk_000000000000_0"]
)
def test_what_cannot_be_a_key_has_no_id(text: str) -> None:
    """It never reaches a look-up."""
    assert key_id_of(text) is None


def test_only_the_whole_token_is_the_key() -> None:
    """And no token is a key that does not exist."""
    _, token = mint("secret")
    stored = secret_hash(token)
    assert is_the_key(token, stored)
    assert not is_the_key(token[:-1] + ("a" if token[-1] != "a" else "b"), stored)
    assert not is_the_key(token, None)
    assert not is_the_key("", None)


def test_the_signing_key_is_not_the_recognising_hash() -> None:
    """Whoever reads one of them from a backup has not the other."""
    _, token = mint("secret")
    assert signing_key(token) != secret_hash(token)


def test_no_code_of_this_package_compares_a_secret_with_an_operator() -> None:
    """`==` stops at the first difference; `compare_digest` does not. Source: storefront-protocols, 6."""
    folder = Path(search_proxy.accounts.__path__[0])
    compared = []
    digests = 0
    for file in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                names = ast.unparse(node).lower()
                if any(word in names for word in _COMPARED):
                    compared.append(f"{file.name}: {ast.unparse(node)}")
            digests += isinstance(node, ast.Attribute) and node.attr == "compare_digest"
    assert compared == []
    assert digests == 2


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("HTTPS://Shop.Example:443", "https://shop.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_an_origin_is_kept_as_a_browser_sends_it(text: str, origin: str) -> None:
    """So that comparing is comparing text. Source: RFC 6454, 6.2."""
    assert canonical_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    ["shop.example", "https://shop.example/", "https://*.example", "*", "null", "ftp://shop.example",
     "https://user@shop.example", "https://shop.example?x=1", "https://", "https://shop.example:port"],
)  # fmt: skip
def test_what_is_not_one_exact_origin_is_refused(text: str) -> None:
    """No path, no pattern, no other scheme."""
    with pytest.raises(ValueError, match="is not an origin such as"):
        canonical_origin(text)
