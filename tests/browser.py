"""Browser: a headless Chromium that tests drive through a pipe, without any library."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Longest wait for an answer, s.
_PATIENCE = 60.0


def chromium() -> str | None:
    """Returns the program, if it is installed."""
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )


class Page:
    """A page in the browser, with what it asked for and complained about."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.requests: list[str] = []
        self.errors: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the DevTools protocol."""
        return self._browser.call(method, parameters, self._session)

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression; waits for a promise."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def screenshot(self, file: Path, *, whole: bool = False) -> bytes:
        """Writes a picture of the window or of the whole page, and returns it."""
        result = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        picture = base64.b64decode(result["data"])
        file.write_bytes(picture)
        return picture

    def hear(self, event: dict[str, Any]) -> None:
        """Notes an event."""
        method, told = event["method"], event["params"]
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"]["text"])


class Browser:
    """A running browser; it ends with the context."""

    def __init__(self, program: str, folder: Path) -> None:
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        words = [program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        words += ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
        words += ["--disable-background-networking", "--hide-scrollbars", "about:blank"]
        quiet = os.open(os.devnull, os.O_RDWR)
        # The protocol has its pipes at descriptors 3 and 4; those here are moved out of the way first.
        moved = [os.dup2(each, 60 + place) for place, each in enumerate((commands, answers))]
        actions = [
            *((os.POSIX_SPAWN_DUP2, quiet, place) for place in range(3)),
            *((os.POSIX_SPAWN_DUP2, each, 3 + place) for place, each in enumerate(moved)),
        ]
        self._process = os.posix_spawn(program, words, os.environ, file_actions=actions, setpgroup=0)
        for each in (commands, answers, quiet, *moved):
            os.close(each)
        self._last, self._waiting = 0, b""
        self._pages: dict[str, Page] = {}

    def close(self) -> None:
        """Ends the browser."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._in)
        os.close(self._out)

    def page(
        self,
        file: Path,
        *,
        width: int = 1200,
        height: int = 900,
        is_dark: bool = False,
        scripts: bool = True,
        media: str = "screen",
    ) -> Page:
        """Opens a file, and returns once it is loaded."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        opened = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        page = self._pages[opened["sessionId"]] = Page(self, opened["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        page.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.call("Page.navigate", url=file.resolve().as_uri())
        page.wait_for(f"location.href === {json.dumps(file.resolve().as_uri())}")
        page.wait_for("document.readyState === 'complete'")
        return page

    def call(
        self, method: str, parameters: dict[str, Any], session: str | None = None
    ) -> dict[str, Any]:
        """Sends a command and returns its answer; events before it go to their pages."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            if "method" in answer and (page := self._pages.get(answer.get("sessionId", ""))):
                page.hear(answer)

    def _next(self) -> dict[str, Any]:
        pieces = [self._waiting]
        while b"\0" not in pieces[-1]:
            ready, _, _ = select.select([self._in], [], [], _PATIENCE)
            assert ready, "the browser does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser has ended"
            pieces.append(piece)
        message, _, self._waiting = b"".join(pieces).partition(b"\0")
        result: dict[str, Any] = json.loads(message)
        return result


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """Starts a browser with a profile of its own."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, Path(folder))
        try:
            yield browser
        finally:
            browser.close()
