"""Guides become documents: split at headings, clean, with ids that stay."""

from __future__ import annotations

import argparse
from pathlib import Path, PurePosixPath

import pytest

from search_proxy import catalog_commands
from search_proxy.backends.embedded import EmbeddedBackend, open_embedded
from search_proxy.guides.loading import load_guides
from search_proxy.guides.sections import MAX_SECTION_CHARACTERS, guide_documents
from search_proxy.models import SearchRequest

pytestmark = pytest.mark.anyio

LONG = "Rinse the tank with fresh water twice before you fill it again, and let it run through slowly."


def test_markdown_is_split_at_its_headings() -> None:
    """Front matter gives title and date; links, images and emphasis become words; code stays."""
    text = f"""---
title: Espresso care
date: 2026-03-01
---
Intro with a [link](https://a.example/x) and ![a picture](data:image/png;base64,{"QUJD" * 50}). {LONG}

## Descaling
Use **citric acid**, never *vinegar*. {LONG}

- one spoon
- half a litre

```
descale --now
# no heading
```

### How often
Every month. {LONG}
"""
    documents = guide_documents(PurePosixPath("machines/espresso.md"), text)
    assert [document["_id"] for document in documents] == [
        "machines/espresso.md",
        "machines/espresso.md#descaling",
        "machines/espresso.md#descaling-how-often",
    ]
    intro, descaling, often = documents
    assert intro["description"] == f"Intro with a link and a picture. {LONG}"
    assert descaling["description"].startswith("Use citric acid, never vinegar.")
    assert "descale --now" in descaling["description"]
    assert often["productTitle"] == "Espresso care – Descaling – How often"
    assert often["section"] == "How often"
    assert {document["createdTime"] for document in documents} == {"2026-03-01"}
    assert {document["scope"] for document in documents} == {"machines"}


def test_html_leaves_out_what_stands_on_every_page() -> None:
    """Navigation, scripts, SVG and footers are not the guide."""
    page = f"""<html><head><title>Tents | Shop</title><script>x=1</script></head><body>
    <nav><ul><li><a href=/>Home</a></li></ul></nav><h1>Pitching</h1><p>{LONG}</p>
    <svg><path d="M0 0"/><text>icon</text></svg><h2>On rock</h2><p>Use stones. {LONG}</p>
    <footer>© Shop</footer></body></html>"""
    first, second = guide_documents(PurePosixPath("tents.html"), page)
    assert first["productTitle"] == "Pitching"
    assert second["productTitle"] == "Pitching – On rock"
    together = f"{first['description']} {second['description']}"
    assert not any(word in together for word in ("Home", "©", "icon", "x=1"))


def test_long_sections_are_split_between_paragraphs_and_short_ones_joined() -> None:
    """No document is more than a page; none is just a heading. Ids stay apart."""
    text = "# Manual\n\n" + "\n\n".join(f"{number} {LONG}" for number in range(120)) + "\n\n## End\nBye.\n"
    documents = guide_documents(PurePosixPath("m.md"), text)
    assert len(documents) > 2
    assert len({document["_id"] for document in documents}) == len(documents)
    assert all(len(document["description"]) <= MAX_SECTION_CHARACTERS for document in documents)
    assert "Bye." in documents[-1]["description"]
    assert guide_documents(PurePosixPath("empty.txt"), " \n ") == []


class _Services:
    def __init__(self, engine: EmbeddedBackend) -> None:
        self.catalog = engine
        self.backend = engine


async def test_the_command_loads_a_folder_beside_the_products(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`aisle catalog load INDEX DIR`; what cannot be read is named and stops nothing."""
    folder = tmp_path / "guides"
    (folder / "care").mkdir(parents=True)
    (folder / "care" / "tents.md").write_text(f"# Tents\n\nDry the tent. {LONG}\n")
    (folder / "sizes.txt").write_text(f"Sizes run small. {LONG}")
    (folder / "broken.txt").write_bytes(b"\xff\xfe\x00bad\xff")
    (folder / ".hidden.md").write_text("# no")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    parser = argparse.ArgumentParser()
    catalog_commands.register(parser.add_subparsers())
    async with open_embedded(tmp_path / "data") as engine:
        args = parser.parse_args(["catalog", "load", "guides", str(folder), "--account", "acme"])
        assert await args.run(args, _Services(engine)) == 0
        assert capsys.readouterr().out == (
            "loaded 2 sections of 2 guides into index 'guides'\nleft out broken.txt: it is not UTF-8\n"
        )
        found = await engine.search("acme", SearchRequest(index="guides", q="dry tent"))
        assert found.hits[0]["_id"] == "care/tents.md"
        empty = parser.parse_args(["catalog", "load", "guides", str(tmp_path / "data" / "indexes" / "acme")])
        assert await args.run(empty, _Services(engine)) == 1
        assert "has no guides" in capsys.readouterr().err


async def test_a_link_out_of_the_folder_is_left_out(tmp_path: Path) -> None:
    """A folder that came from elsewhere must not publish a file of this machine."""
    (tmp_path / "secret.txt").write_text("the password of the shop")
    folder = tmp_path / "guides"
    folder.mkdir()
    (folder / "care.md").write_text(f"# Care\n\n{LONG}")
    (folder / "again.md").symlink_to(folder / "care.md")
    (folder / "outside.txt").symlink_to(tmp_path / "secret.txt")
    async with open_embedded(tmp_path / "data") as engine:
        report = await load_guides(folder, engine, "acme", "guides")
        found = await engine.search("acme", SearchRequest(index="guides", q="password"))
    assert (report.guides, found.total_hits) == (2, 0)
    assert report.refused == [("outside.txt", "it is a link to a file outside of the folder")]
