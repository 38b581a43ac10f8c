"""A real headless Chromium, driven through a small Node program beside this file."""

from __future__ import annotations

import json
import select
import subprocess
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
ANSWER_SECONDS = 30.0
"""The driver bounds every command itself, at 15 s; this is for a driver that has died."""


class BrowserFailed(Exception):
    """A command could not be carried out: an element that is not there, a wait that was in vain."""


class Browser:
    """One browser with one page at a time."""

    def __init__(self, chromium: str) -> None:
        self._process = subprocess.Popen(
            ["node", str(_HERE / "driver.mjs"), chromium], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._next = 0

    def close(self) -> None:
        """End the browser."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def open(self, url: str, **options: Any) -> None:
        """Open a page in a fresh context: `width`, `height`, `dark`, `calm`, `touch`, `init` (run first)."""
        self._call("open", url=url, **options)

    def js(self, expression: str) -> Any:
        """Return what a JavaScript expression gives in the page."""
        return self._call("js", expression=expression)

    def wait(self, expression: str, seconds: float = 15.0) -> Any:
        """Return the expression's value once it is true."""
        return self._call("wait", expression=expression, seconds=seconds)

    def texts(self, selector: str) -> list[str]:
        """Return the visible text of every match, top to bottom."""
        query = f"[...document.querySelectorAll({json.dumps(selector)})]"
        # What Chromium leaves undrawn until it is scrolled to, or until its next frame, has no `innerText`.
        text = "(e.checkVisibility({contentVisibilityAuto: true}) ? e.innerText : e.textContent).trim()"
        found: list[str] = self.js(f"{query}.filter((e) => e.checkVisibility()).map((e) => {text})")
        return found

    def text(self, selector: str) -> str:
        """Return the visible text of the one match."""
        (only,) = self.texts(selector)
        return only

    def click(self, selector: str) -> None:
        """Click, as a mouse does."""
        self._call("click", selector=selector)

    def fill(self, selector: str, text: str) -> None:
        """Replace the text of an input."""
        self._call("fill", selector=selector, text=text)

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        self._call("press", key=key)

    def sleep(self, *, asleep: bool) -> None:
        """Freeze the page as a closed lid does, or wake it."""
        self._call("asleep", asleep=asleep)

    def go_offline(self, *, offline: bool) -> None:
        """Take the network away, or give it back."""
        self._call("offline", offline=offline)

    def back(self) -> None:
        """Go back in history."""
        self._call("back")

    def reload(self) -> None:
        """Reload the page."""
        self._call("reload")

    def drop(self, selector: str, color: str = "#a43c2a", source: str | None = None) -> None:
        """Drop a picture on an element, as from a folder: one colour, with the image of an address on it."""
        self._call("drop", selector=selector, color=color, source=source)

    def files(self, selector: str, paths: list[Path]) -> None:
        """Choose files in an input."""
        self._call("files", selector=selector, paths=[str(path) for path in paths])

    def screenshot(self, path: Path) -> None:
        """Take a picture of what is visible."""
        self._call("screenshot", path=str(path))

    def seen(self) -> dict[str, Any]:
        """Return the requests, errors and dialogs of this page so far."""
        found: dict[str, Any] = self._call("seen")
        return found

    def axe(self) -> list[dict[str, Any]]:
        """Return what the accessibility checker finds."""
        found: list[dict[str, Any]] = self._call("axe")
        return found

    def _call(self, command: str, **parameters: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._next += 1
        line = json.dumps({"id": self._next, "command": command, **parameters}) + "\n"
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS)
        answer = json.loads(self._process.stdout.readline()) if ready else {}
        if answer.get("id") != self._next:
            raise BrowserFailed(f"the driver did not answer {command!r}")
        if "error" in answer:
            raise BrowserFailed(answer["error"])
        return answer["value"]
