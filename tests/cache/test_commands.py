"""`aisle cache`: what an operator sees and does."""

from __future__ import annotations

import argparse
import io
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cache.commands import register, run_command
from cache.config import CacheConfig, DynamoConfig
from cache.keys import QueryKey
from cache.opening import open_cache
from cache.warming import WarmAnswer, read_questions
from tests.support.dynamodb_servers import moto_server

KEY = QueryKey.of("acme", "shoes", "red running shoes")


class _Planner:
    """Answers everything but questions about hats, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def expected_tags(self, account_id: str, index: str) -> Mapping[str, str]:
        return {"prompt": "v1"}

    async def estimate_tokens(self, account_id: str, index: str, queries: Sequence[str]) -> int:
        return 700 * len(queries)

    async def answer(self, account_id: str, index: str, query: str) -> WarmAnswer | None:
        self.asked.append(query)
        return None if "hat" in query else WarmAnswer(payload=query.encode(), tags={"prompt": "v1"})


@pytest.fixture
def config(tmp_path: Path) -> CacheConfig:
    """Return a cache of the test's own."""
    return CacheConfig(data_dir=tmp_path / "cache")


def _run(
    config: CacheConfig, *words: str, planner: _Planner | None = None
) -> tuple[int, list[dict[str, Any]], str]:
    parser = argparse.ArgumentParser(prog="aisle")
    register(parser.add_subparsers(required=True))
    out, errors = io.StringIO(), io.StringIO()
    args = parser.parse_args(["cache", *words])
    code = run_command(args, config, planner=planner, out=out, errors=errors)
    return code, [json.loads(line) for line in out.getvalue().splitlines()], errors.getvalue()


@pytest.fixture
def stored(config: CacheConfig, anyio_backend: str) -> CacheConfig:
    """Return a cache that holds one answer, stored by a process that has ended."""
    planner = _Planner()
    file = config.data_dir.parent / "one.txt"
    file.write_text("Red running shoes\n")
    assert _run(config, "warm", "shoes", str(file), "--account", "acme", "--yes", planner=planner)[0] == 0
    return config


def test_get_shows_an_answer_whatever_the_spelling_of_its_question(stored: CacheConfig) -> None:
    """An operator types what the shopper typed."""
    code, (shown,), _ = _run(stored, "get", "shoes", " RED  running shoes", "--account", "acme", "--payload")
    assert code == 0
    assert shown.pop("created_at_ms") > 1_600_000_000_000
    assert shown == {
        "key": KEY.text,
        "stored": True,
        "tags": {"prompt": "v1"},
        "pinned": False,
        "bytes": 17,
        "payload": "Red running shoes",
    }


def test_get_says_when_there_is_none_and_only_looks_into_its_own_account(stored: CacheConfig) -> None:
    """The exit code is 1, and another account's answer is not there."""
    code, shown, _ = _run(stored, "get", "shoes", "red running shoes", "--account", "rival")
    assert (code, shown) == (1, [{"key": "rival#shoes#red running shoes", "stored": False}])


@pytest.mark.parametrize("command", ["list", "rebuild-filter"])
def test_an_index_with_nothing_stored_is_said_to_have_nothing(stored: CacheConfig, command: str) -> None:
    """The exit code is 1: its name may well be a wrong one."""
    code, _, errors = _run(stored, command, "shoos", "--account", "acme")
    assert code == 1
    assert errors.startswith(
        f"aisle cache {command}: nothing is stored for index 'shoos' of account 'acme'; `aisle catalog list"
    )
    assert (_run(stored, command, "shoes", "--account", "acme")[::2]) == (0, "")


def test_list_and_stats_show_one_index(stored: CacheConfig) -> None:
    """Keys with the time of their writing; counts and the filter's state."""
    _, listed, _ = _run(stored, "list", "shoes", "--account", "acme")
    assert [line["key"] for line in listed] == [KEY.text]
    assert _run(stored, "list", "hats", "--account", "acme")[1] == []
    assert _run(stored, "rebuild-filter", "shoes", "--account", "acme")[1] == [
        {"account": "acme", "index": "shoes", "keys": 1}
    ]
    _, (stats,), _ = _run(stored, "stats", "shoes", "--account", "acme")
    assert (stats["keys"], stats["filter"]["keys"]) == (1, 1)
    assert stats["filter"]["age_seconds"] >= 0


def test_delete_removes_one_answer_or_everything_of_an_account(stored: CacheConfig) -> None:
    """The second time there is nothing left to delete."""
    words = ("delete", "shoes", "red running shoes", "--account", "acme")
    assert _run(stored, *words)[:2] == (0, [{"key": KEY.text, "deleted": 1}])
    assert _run(stored, *words)[:2] == (1, [{"key": KEY.text, "deleted": 0}])
    assert _run(stored, "delete", "--account", "acme", "--all")[0] == 0


def test_delete_refuses_to_guess_what_was_meant(stored: CacheConfig) -> None:
    """Neither a question nor --all."""
    code, _, errors = _run(stored, "delete", "--account", "acme")
    assert (code, errors) == (
        2,
        "aisle cache delete: give an index and a query, or --all alone for everything of the account\n",
    )
    for words in (("shoes",), ("shoes", "--all"), ("shoes", "red", "--all")):
        assert _run(stored, "delete", *words, "--account", "acme")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "", "--account", "acme"), "argument index: must be a name, got ''"),
        (("stats", "shoes", "--account", " "), "argument --account: must be a name, got ' '"),
        (("delete", "--all", "--account", ""), "argument --account: must be a name, got ''"),
        (
            ("list", "shoes", "--account", "acme", "--limit", "many"),
            "a whole number of at least 1, got 'many'",
        ),
        (("warm", "shoes", "f", "--account", "acme", "--concurrency", "0"), "at least 1, got '0'"),
    ],
)
def test_what_is_typed_wrong_is_told_by_name(
    config: CacheConfig, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is looked up or deleted for a name that is empty."""
    with pytest.raises(SystemExit) as refused:
        _run(config, *words)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("get", "shoes", "red", "--account", "acme"),
        ("list", "shoes", "--account", "acme"),
        ("delete", "shoes", "red", "--account", "acme"),
        ("stats", "shoes", "--account", "acme"),
        ("rebuild-filter", "shoes", "--account", "acme"),
        ("create-table",),
    ],
)
def test_a_table_that_cannot_be_reached_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    """No command shows its inside to an operator at night."""
    nowhere = DynamoConfig(
        endpoint_url="http://127.0.0.1:1",
        access_key_id="test",
        secret_access_key="test",
        deadline_seconds=0.5,
    )
    config = CacheConfig(data_dir=tmp_path, table="dynamodb", dynamodb=nowhere)
    code, said, errors = _run(config, *words)
    assert (code, said) == (2, [])
    assert errors.startswith(f"aisle cache {words[0]}: table: dynamodb ")
    assert errors.count("\n") == 1


def test_warm_refuses_a_file_that_is_no_text(config: CacheConfig, tmp_path: Path) -> None:
    """The message names the file and the byte."""
    file = tmp_path / "questions.bin"
    file.write_bytes(b"\xff\xfe")
    code, _, errors = _run(config, "warm", "shoes", str(file), "--account", "acme", planner=_Planner())
    assert (code, "is not UTF-8 text" in errors) == (2, True)


def test_a_variant_is_found_and_deleted_by_its_hash(config: CacheConfig, tmp_path: Path) -> None:
    """As the log line shows it."""
    words = ("shoes", "red", "--account", "acme", "--variant", "5f")
    assert _run(config, "get", *words)[1] == [{"key": "acme#shoes#red#5f", "stored": False}]
    assert _run(config, "delete", *words)[:2] == (1, [{"key": "acme#shoes#red#5f", "deleted": 0}])


def test_warm_estimates_first_and_spends_nothing_without_yes(config: CacheConfig, tmp_path: Path) -> None:
    """Tokens are money."""
    planner = _Planner()
    file = tmp_path / "questions.txt"
    file.write_text("red shoes\n\nblue shoes\nred shoes\n")
    code, said, _ = _run(config, "warm", "shoes", str(file), "--account", "acme", planner=planner)
    assert (code, planner.asked) == (0, [])
    assert said[0] == {"questions": 2, "missing": 2, "estimated_tokens": 1400}


def test_warm_goes_on_where_it_was_and_skips_what_is_stored(config: CacheConfig, tmp_path: Path) -> None:
    """A second run asks the model only for what is missing."""
    planner = _Planner()
    file = tmp_path / "questions.txt"
    file.write_text("red shoes\nblue shoes\n")
    words = ("warm", "shoes", str(file), "--account", "acme", "--yes", "--concurrency", "2")
    assert _run(config, *words, planner=planner)[1][-1] == {"stored": 2, "skipped": 0, "refused": 0}
    file.write_text("red shoes\nblue shoes\ngreen shoes\na red hat\n" + "x" * 2000)
    code, said, _ = _run(config, *words, planner=planner)
    assert code == 1
    assert said[0]["missing"] == 3
    assert said[-1] == {"stored": 1, "skipped": 0, "refused": 2}
    refused = {line["refused"]: line["why"] for line in said if "why" in line}
    assert refused.keys() == {"a red hat", "x" * 200}
    assert "at most 1024" in refused["x" * 200]
    assert sorted(planner.asked) == ["a red hat", "blue shoes", "green shoes", "red shoes"]


def test_spellings_of_one_question_are_answered_once(config: CacheConfig, tmp_path: Path) -> None:
    """They share a key, so a second answer would only cost tokens."""
    planner = _Planner()
    file = tmp_path / "questions.txt"
    file.write_text("Red shoes\nred  SHOES\nblue shoes\n")
    said = _run(config, "warm", "shoes", str(file), "--account", "acme", "--yes", planner=planner)[1]
    assert said[0]["missing"] == 2
    assert sorted(planner.asked) == ["Red shoes", "blue shoes"]


def test_warm_without_a_model_says_so(config: CacheConfig, tmp_path: Path) -> None:
    """The message says what is missing."""
    code, _, errors = _run(config, "warm", "shoes", str(tmp_path / "none"), "--account", "acme")
    assert (code, errors) == (2, "aisle cache warm: warming needs a model; none is configured\n")


def test_a_file_of_questions_loses_blanks_and_repeats(tmp_path: Path) -> None:
    """Order stays."""
    file = tmp_path / "questions.txt"
    file.write_text("  b \n\na\nb\n")
    assert read_questions(file) == ["b", "a"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Run one DynamoDB protocol server."""
    with moto_server() as url:
        yield url


def test_create_table_makes_the_environments_table_once(tmp_path: Path, endpoint: str) -> None:
    """And the cache works with it at once. Source: flow document, the table's name."""
    environment = f"t{uuid.uuid4().hex}"
    config = CacheConfig(
        data_dir=tmp_path,
        environment=environment,
        table="dynamodb",
        dynamodb=DynamoConfig(endpoint_url=endpoint, access_key_id="test", secret_access_key="test"),
    )
    table = f"{environment}-AgenticCachedQueriesTable"
    assert _run(config, "create-table")[:2] == (0, [{"table": table, "created": True}])
    assert _run(config, "create-table")[:2] == (0, [{"table": table, "created": False}])
    assert _run(config, "get", "shoes", "red", "--account", "acme")[0] == 1


def test_create_table_for_sqlite_says_that_there_is_nothing_to_do(config: CacheConfig) -> None:
    """The embedded table makes itself."""
    code, _, errors = _run(config, "create-table")
    assert code == 2
    assert "makes itself" in errors


@pytest.mark.anyio
async def test_a_cache_opens_and_closes_without_being_used(config: CacheConfig) -> None:
    """Nothing is connected, nothing is left behind."""
    async with open_cache(config):
        pass
