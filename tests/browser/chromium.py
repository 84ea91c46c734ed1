"""A real browser, driven through its debugging pipe; nothing but Python is needed."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

BROWSER = next(
    (p for n in ("chromium", "chromium-browser") if (p := shutil.which(n))), None
)


LEAVING = ("navigated", "context was destroyed", "Cannot find context")


class PageIsLeaving(RuntimeError):
    """The page that was asked is not there any more; the next one will answer."""


class Page:
    """One page of a headless chromium."""

    def __init__(self, folder: Path) -> None:
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            first, second = os.dup(their_in), os.dup(their_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        assert BROWSER is not None
        self._process = subprocess.Popen(
            [
                BROWSER,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--host-resolver-rules=MAP *.test 127.0.0.1",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder}",
                "about:blank",
            ],
            preexec_fn=pipes,  # noqa: PLW1509 - no threads yet
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._number, self._buffer = 0, b""
        self.events: list[dict[str, Any]] = []
        target = self._wait_for_page()
        attached = self._call(
            "Target.attachToTarget", {"targetId": target, "flatten": True}
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _wait_for_page(self) -> str:
        end = monotonic() + 60
        while monotonic() < end:
            targets = self._call("Target.getTargets")["targetInfos"]
            pages = [t["targetId"] for t in targets if t["type"] == "page"]
            if pages:
                return str(pages[0])
            sleep(0.1)
        raise TimeoutError("no page")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command to the page."""
        return self._call(method, params, session=self._session)

    def _call(
        self, method: str, params: Any = None, session: str | None = None
    ) -> dict[str, Any]:
        self._number += 1
        order = {"id": self._number, "method": method, "params": params or {}}
        if session:
            order["sessionId"] = session
        os.write(self._out, json.dumps(order).encode() + b"\0")
        while True:
            answer = self._message(60)
            if answer.get("id") == self._number:
                message = answer.get("error", {}).get("message", "")
                if any(words in message for words in LEAVING):
                    raise PageIsLeaving(message)
                assert "error" not in answer, answer
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def _message(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], seconds)
            if not ready:
                raise TimeoutError("the browser says nothing")
            part = os.read(self._in, 2**20)
            if not part:
                raise TimeoutError("the browser has ended")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(self, url: str, part: str = "form") -> None:
        """Go to a page and wait until it shows a part of it."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.until(f"document.querySelector('#{part}:not([hidden])') !== null")

    def reload(self) -> None:
        """Load the page once more, and wait until it is another one."""
        self.run("window.isOld = true")
        self.call("Page.reload")
        self.until("window.isOld === undefined")

    def travel(self, steps: int) -> None:
        """Go back or forward, and wait until the page that was there is shown."""
        history = self.call("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] + steps]
        self.call("Page.navigateToHistoryEntry", entryId=entry["id"])
        self.until(
            f"location.href === {json.dumps(entry['url'])}"
            " && document.readyState === 'complete'"
        )

    def type(self, text: str) -> None:
        """Text from the keyboard, into what has the focus."""
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", text=letter)
            self.call("Input.dispatchKeyEvent", type="keyUp")

    def run(self, script: str) -> Any:
        """What an expression gives, promises awaited."""
        found = self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true, on whichever page is there by then."""
        end = monotonic() + 30
        while not self._is_true(script):
            assert monotonic() < end, script
            sleep(0.05)

    def _is_true(self, script: str) -> bool:
        try:
            return bool(self.run(script))
        except PageIsLeaving:
            return False

    def screenshot(self, path: Path, width: int = 800) -> None:
        """A picture of the page."""
        import base64

        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=844,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def requests(self) -> list[dict[str, Any]]:
        """What the page asked for so far."""
        return [
            e["params"]["request"]
            for e in self.events
            if e.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[Any]:
        """Errors in the page's console."""
        return [
            e["params"]
            for e in self.events
            if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")
        ]

    def close(self) -> None:
        """End the browser, so that it writes what it would write."""
        with suppress(AssertionError, OSError, TimeoutError):
            self._call("Browser.close")
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        os.close(self._in)
        os.close(self._out)
