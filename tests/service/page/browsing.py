"""The page in a real browser: opened, watched for complaints, its modules called by tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

Module = Callable[..., Any]


def calling(tab: Page, name: str) -> Module:
    """A function that calls code with a module of the page: ``(m, …) => …`` and its arguments."""

    def call(code: str, *arguments: Any) -> Any:
        script = f"async given => ({code})(await import('/page/{name}'), ...given)"
        return tab.evaluate(script, list(arguments))

    return call


class Opener:
    """Opens the page, and writes down every error, warning and request that leaves the host."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.complaints: list[str] = []

    def __call__(
        self,
        *,
        series: str = "",
        width: int = 1400,
        scheme: Any = "light",
        ready: bool = True,
        touch: bool = False,
    ) -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=touch
        )
        tab = context.new_page()
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", self.said)
        tab.on("request", self.asked)
        tab.goto(f"{self.address}/#{series}" if series else self.address)
        if ready:
            tab.wait_for_selector("html[data-ready]")
        return tab

    def said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def asked(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.address).netloc:
            self.complaints.append(request.url)


def frame(tab: Page) -> None:
    """Wait until all that was planned is drawn."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
