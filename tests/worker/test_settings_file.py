"""The settings file: `NAME=value`, under the environment, with mistakes named by their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.settings import Settings, SettingsError


def read(folder: Path, text: str, **environ: str) -> Settings:
    """Return the settings of a file and an environment."""
    path = folder / "aisle.env"
    path.write_text(text)
    return Settings.from_env({"AISLE_SETTINGS_FILE": str(path), **environ})


def test_a_file_says_what_the_environment_does_not(tmp_path: Path) -> None:
    """Comments and blank lines are passed over, quotes taken off, other names left alone."""
    text = '# a server\n\nAISLE_PORT=9000\nAISLE_MODEL = "gemini-x"\nGOOGLE_API_KEY=k\nPATH=/bin\n'
    settings = read(tmp_path, text, AISLE_PORT="9001")
    assert (settings.port, settings.model) == (9001, "gemini-x")
    assert settings.gemini_api_key is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("AISLE_PORT=1\nnonsense\n", "line 2 is not NAME=value"),
        ("AISLE_PORT=1\nAISLE_PORT=2\n", "line 2 sets AISLE_PORT a second time"),
        ("AISLE_NOTHING=1\n", "unknown setting AISLE_NOTHING"),
        ("AISLE_WORKERS=0\n", "AISLE_WORKERS: Input should be greater than or equal to 1"),
        ("#" * 300_000, "has 300000 bytes; at most 262144 are read"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    """The process does not start with half of its settings."""
    with pytest.raises(SettingsError, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there_or_no_text_is_an_error(tmp_path: Path) -> None:
    """A path with a typing mistake is not silently nothing."""
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        Settings.from_env({"AISLE_SETTINGS_FILE": str(tmp_path / "nowhere")})
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="is not UTF-8"):
        Settings.from_env({"AISLE_SETTINGS_FILE": str(tmp_path / "bytes")})


def test_the_collectors_usual_names_are_known_and_may_be_absent() -> None:
    """OTEL_* beside AISLE_OTLP_*."""
    assert Settings.from_env({}).otlp_endpoint is None
    usual = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318",
        "OTEL_EXPORTER_OTLP_HEADERS": "a=b, c=d=e",
        "OTEL_SERVICE_NAME": "shop",
    }
    settings = Settings.from_env(usual)
    assert (settings.otlp_endpoint, settings.otlp_service) == ("http://localhost:4318", "shop")
    assert settings.otlp_header_map() == {"a": "b", "c": "d=e"}
    with pytest.raises(SettingsError, match="AISLE_OTLP_ENDPOINT"):
        Settings.from_env({"AISLE_OTLP_ENDPOINT": "localhost:4318"})
