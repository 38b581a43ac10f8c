"""Two different questions never share a key, and no query can spell another account's."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cache.errors import InvalidKey
from cache.keys import MAX_KEY_BYTES, QueryKey, account_of, index_of, normalize_query, scope_of, variant_of

_TRICKS = st.text(
    alphabet=st.sampled_from("#%2350aAbBß\u0130ſﬁ\u212a\u00e9e\u0301 \t\u00a0!"), min_size=1, max_size=12
)
_PART = st.one_of(_TRICKS, st.text(min_size=1, max_size=20))


def _key(account: str, index: str, query: str, variant: str | None = None) -> QueryKey:
    try:
        return QueryKey.of(account, index, query, variant)
    except InvalidKey:
        assume(False)
        raise


def test_the_plain_key_reads_as_an_operator_would_type_it() -> None:
    """Source: flow document, step 3, `get-item`."""
    key = QueryKey.of("acme", "shoes-prod", "  Red\u00a0 RUNNING shoes ")
    assert key.text == "acme#shoes-prod#red running shoes"
    assert key.scope == "acme#shoes-prod"


def test_the_delimiter_is_escaped_in_every_part() -> None:
    """A query that holds the delimiter cannot start another part. Source: design, decision 14."""
    assert QueryKey.of("a#b", "i%", "c#d").text == "a%23b#i%25#c%23d"


@given(_PART, _PART, _PART, st.none() | _PART, _PART, _PART, _PART, st.none() | _PART)
@example("a", "b", "c", "d", "a", "b", "c#d", None)
@example("a#b", "c", "d", None, "a", "b#c", "d", None)
@example("a%23b", "c", "d", None, "a#b", "c", "d", None)
def test_keys_are_equal_only_where_every_part_is(
    account: str,
    index: str,
    query: str,
    variant: str | None,
    account2: str,
    index2: str,
    query2: str,
    variant2: str | None,
) -> None:
    """Delimiter, escape and Unicode tricks make no two questions meet."""
    one, two = _key(account, index, query, variant), _key(account2, index2, query2, variant2)
    parts = (account, index, normalize_query(query), variant or "")
    parts2 = (account2, index2, normalize_query(query2), variant2 or "")
    assert (one.text == two.text) == (parts == parts2)


@given(_PART, _PART, _PART, st.none() | _PART)
def test_a_key_comes_back_from_its_text(account: str, index: str, query: str, variant: str | None) -> None:
    """What is stored names its account, index and query again."""
    key = _key(account, index, query, variant)
    assert QueryKey.from_text(key.text) == key
    assert (account_of(key.scope), index_of(key.scope)) == (account, index)


@given(st.text(max_size=40))
def test_normalizing_twice_changes_nothing(query: str) -> None:
    """Every spelling ends at one text, in one step. Source: Unicode 3.13, D146."""
    assert normalize_query(normalize_query(query)) == normalize_query(query)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("STRASSE", "straße"),
        ("cafe\u0301", "CAFÉ"),
        ("ﬁne", "fine"),
        ("a\t b", "A  B"),
        ("\u212a", "k"),
        ("１２", "12"),
    ],
)
def test_spellings_of_one_question_share_a_key(one: str, two: str) -> None:
    """Case, width, composition and white space do not make another question."""
    assert QueryKey.of("a", "i", one) == QueryKey.of("a", "i", two)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("", "i", "q"), "account of a cache key is empty"),
        (("a", "", "q"), "index of a cache key is empty"),
        (("a", "i", " \t"), "query of a cache key is empty"),
        (("a", "i", "x\ud800"), "cache key holds an unpaired surrogate at 5"),
        (("a", "i", "x" * 1022), f"cache key has 1026 bytes, at most {MAX_KEY_BYTES} are stored"),
        (("a", "i", "x" * 5000), "query has 5000 characters, at most 1024 are looked up"),
    ],
)
def test_what_cannot_be_a_key_is_refused_by_name(parts: tuple[str, str, str], message: str) -> None:
    """The message says which part and why."""
    with pytest.raises(InvalidKey) as refused:
        QueryKey.of(*parts)
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["a#i", "a#i#q#v#w", "a#i#Q", "a#i#q#", "", "a#i# q"])
def test_a_text_that_no_question_has_is_refused(text: str) -> None:
    """An operator's typing mistake is told, not looked up."""
    with pytest.raises(InvalidKey):
        QueryKey.from_text(text)


def test_a_scope_of_the_cache_itself_is_no_accounts_scope() -> None:
    """Control records have one part less than any answer's key."""
    assert scope_of("!drops", "a#b#c").count("#") == 1
    assert QueryKey.of("!drops", "x", "y").text.count("#") == 2


def test_variants_depend_on_values_and_not_on_their_order() -> None:
    """The same options are the same variant; nothing that differs is no variant."""
    assert variant_of({}) is None
    assert variant_of({"a": 1, "b": "x"}) == variant_of({"b": "x", "a": 1})
    assert variant_of({"a": 1}) != variant_of({"a": "1"})
