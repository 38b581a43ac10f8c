"""A file of settings, `NAME=value` a line: what a running server can be told anew, unlike its environment."""

from __future__ import annotations

from pathlib import Path

_MAX_BYTES = 256 * 1024


class SettingsFileUnreadable(ValueError):
    """The file cannot be used; the message says where and why."""


def read_settings_file(path: Path) -> dict[str, str]:
    """Return the file's names and values; blank lines and lines that begin with `#` say nothing.

    Raises:
        SettingsFileUnreadable: It is not there, is no text, or a line is not `NAME=value`.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode()
    except OSError as error:
        raise SettingsFileUnreadable(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsFileUnreadable(f"{str(path)!r} is not UTF-8") from error
    if len(raw) > _MAX_BYTES:
        raise SettingsFileUnreadable(f"{str(path)!r} has {len(raw)} bytes; at most {_MAX_BYTES} are read")
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, is_set, value = line.partition("=")
        name = name.strip()
        if not is_set or not name.isidentifier():
            raise SettingsFileUnreadable(f"{str(path)!r} line {number} is not NAME=value")
        if name in found:
            raise SettingsFileUnreadable(f"{str(path)!r} line {number} sets {name} a second time")
        found[name] = _unquoted(value.strip())
    return found


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
