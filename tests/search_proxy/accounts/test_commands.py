"""The command line: twins of the admin API."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from search_proxy.accounts.commands import register
from tests.search_proxy.accounts.served_office import ServedOffice, serve_office

pytestmark = pytest.mark.anyio


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedOffice]:
    """An office with an account and an index."""
    async with serve_office(tmp_path / "data") as running:
        running.backend.put("acme", "store", {"_id": "p1", "productTitle": "warm jacket", "price": 20})
        yield running


async def run(served: ServedOffice, *words: str) -> int:
    """Run a command line over the office."""
    parser = argparse.ArgumentParser()
    register(parser.add_subparsers(required=True))
    args = parser.parse_args(words)
    status: int = await args.run(args, served)
    return status


async def test_an_account_and_its_keys_from_nothing(
    served: ServedOffice, capsys: pytest.CaptureFixture[str]
) -> None:
    """Create, use, show, rotate, revoke."""
    assert await run(served, "account", "create", "acme", "--name", "Acme Outdoor") == 0
    secret = capsys.readouterr().out.split()[-1]
    assert (await served.call(secret, "GET", "account")).json()["name"] == "Acme Outdoor"
    words = ("account", "key", "create", "acme", "--origin", "https://shop.example", "--index", "store")
    assert await run(served, *words, "--filter", "price:[* TO 50]", "--per-minute", "60") == 0
    publishable = capsys.readouterr().out.split()[-1]
    search = await served.client.post(
        "/api/v1/indexes/store/search",
        json={"q": "jacket"},
        headers={"x-api-key": publishable, "Origin": "https://shop.example"},
    )
    assert search.json()["totalHits"] == 1
    assert await run(served, "account", "show", "acme") == 0
    shown = orjson.loads(capsys.readouterr().out)
    assert [key["kind"] for key in shown["keys"]] == ["secret", "publishable"]
    assert shown["keys"][1]["rights"]["forced_filter"] == "price:[* TO 50]"
    key_id = publishable.split("_")[1]
    assert await run(served, "account", "key", "rotate", "acme", key_id, "--overlap-seconds", "5") == 0
    successor = capsys.readouterr().out.split()[5]
    assert served.office.directory.identify(successor) is not None
    assert await run(served, "account", "key", "revoke", "acme", key_id) == 0
    assert served.office.directory.identify(publishable) is None
    assert await run(served, "account", "key", "derive", "acme", secret.split("_")[1], "--group", "gold") == 0
    derived = served.office.directory.identify(capsys.readouterr().out.split()[-1])
    assert derived is not None
    assert derived.groups == {"gold"}
    assert await run(served, "account", "public", "acme", "on", "--origin", "https://shop.example") == 0
    assert served.office.directory.identify_public("acme-store", "store") is not None
    assert await run(served, "account", "list") == 0
    assert await run(served, "account", "audit", "acme") == 0
    assert "key.revoke" in capsys.readouterr().out


async def test_settings_from_set_to_a_file_and_back(
    served: ServedOffice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Set, get, unset, export, import."""
    await run(served, "account", "create", "acme")
    await run(served, "settings", "set", "acme", "store", "agentic_config.max_categories=3",
              "agentic_config.models.plan=gemini-3.5-flash", "feature_flags.converse=false")  # fmt: skip
    snapshot = served.office.directory.snapshot("acme", "store")
    assert snapshot.version == 1
    assert snapshot.settings.agentic_config.models.plan == "gemini-3.5-flash"
    assert await run(served, "settings", "set", "acme", "store", "agentic_config.max_categories=many") == 1
    expected = "aisle: agentic_config.max_categories is 'many'; it takes an integer from 1 to 6\n"
    assert capsys.readouterr().err == expected
    file = tmp_path / "acme.json"
    assert await run(served, "settings", "export", "acme", "--output", str(file)) == 0
    before = file.read_bytes()
    capsys.readouterr()
    assert await run(served, "settings", "import", "acme", str(file)) == 0
    assert capsys.readouterr().out == "nothing to change\n"
    assert await run(served, "settings", "unset", "acme", "store", "agentic_config.max_categories") == 0
    assert served.office.directory.snapshot("acme", "store").settings.agentic_config.max_categories == 5
    assert await run(served, "settings", "import", "acme", str(file)) == 0
    assert served.office.directory.snapshot("acme", "store").settings.agentic_config.max_categories == 3
    assert await run(served, "settings", "export", "acme", "--output", str(file)) == 0
    assert file.read_bytes() == before
    capsys.readouterr()
    assert await run(served, "settings", "get", "acme", "store") == 0
    assert orjson.loads(capsys.readouterr().out)["own"]["agentic_config"]["max_categories"] == 3
    assert await run(served, "settings", "schema") == 0


async def test_a_prompt_from_file_to_published_and_back(
    served: ServedOffice, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """New, lint, diff, preview, publish, roll out, roll back."""
    await run(served, "account", "create", "acme")
    first, second, queries = tmp_path / "first.json", tmp_path / "second.json", tmp_path / "queries.txt"
    first.write_bytes(orjson.dumps({"voice": "calm"}))
    second.write_bytes(orjson.dumps({"voice": "lively", "dont": ["name competitors"]}))
    queries.write_text("jacket\n\n")
    assert await run(served, "prompt", "new", "acme", "store", str(first), "--note", "opening") == 0
    assert await run(served, "prompt", "publish", "acme", "store", "1") == 0
    assert await run(served, "prompt", "new", "acme", "store", str(second)) == 0
    assert await run(served, "prompt", "lint", "acme", "store", "2") == 0
    capsys.readouterr()
    assert await run(served, "prompt", "diff", "acme", "store", "2") == 0
    diff = capsys.readouterr().out
    assert "--- version 1 (published)" in diff
    assert "+- name competitors" in diff
    assert await run(served, "prompt", "preview", "acme", "store", "2", "--queries", str(queries)) == 0
    preview = capsys.readouterr().out
    assert "lively jacket" in preview
    assert "calm jacket" in preview
    assert "warm jacket" in preview
    assert await run(served, "prompt", "publish", "acme", "store", "2", "--percentage", "10") == 0
    assert capsys.readouterr().out == "in use: version 1; version 2 for 10 % of sessions\n"
    assert await run(served, "prompt", "list", "acme", "store") == 0
    assert "10 % of sessions" in capsys.readouterr().out
    assert await run(served, "prompt", "rollback", "acme", "store") == 0
    assert capsys.readouterr().out == "in use: version 1\n"
    assert await run(served, "prompt", "show", "acme", "store", "1") == 0
    assert orjson.loads(capsys.readouterr().out)["note"] == "opening"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("account", "show", "nobody"), "account 'nobody' does not exist"),
        (("account", "create", "No-Good"), "'No-Good' is not an account id: 3 to 32 lower-case letters"),
        (("account", "key", "revoke", "acme", "k1"), "key 'k1' does not exist"),
        (
            ("account", "key", "create", "acme", "--origin", "shop"),
            "allowed_origins.0: 'shop' is not an",
        ),
        (("settings", "set", "acme", "store", "novalue"), "'novalue' is not FIELD=VALUE"),
        (("settings", "get", "acme", "1st"), "'1st' is neither an index name nor '*'"),
        (("settings", "import", "acme", "absent.json"), "'absent.json' cannot be read: No such file"),
        (("prompt", "publish", "acme", "store", "4"), "index 'store' has no prompt version 4"),
        (("prompt", "rollback", "acme", "store"), "index 'store' has no prompt version published before"),
    ],
)
async def test_a_refused_command_says_why_and_ends_with_one(
    served: ServedOffice, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    """On standard error, without a traceback."""
    await run(served, "account", "create", "acme")
    capsys.readouterr()
    assert await run(served, *words) == 1
    assert capsys.readouterr().err.startswith(f"aisle: {message}")


def test_every_command_in_the_merchant_s_guide_is_one() -> None:
    """The guide is typed word for word. Source: docs/merchants.md."""
    guide = (Path(__file__).parents[3] / "docs" / "merchants.md").read_text()
    lines = re.findall(r"(?:^|`)aisle ((?:account|settings|prompt) [^`\n]+)", guide, re.MULTILINE)
    assert len(lines) >= 15
    parser = argparse.ArgumentParser(exit_on_error=False)
    register(parser.add_subparsers(required=True))
    for line in lines:
        assert parser.parse_args(shlex.split(line)).run is not None
