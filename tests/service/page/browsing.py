"""The page in a real browser: opened, watched for complaints, its modules called by tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, expect

from live_service import LiveService
from report.browsing import Tabs

# milliseconds: never reached, however busy the machine is
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)

TRIES = 2_000
"""Times that something is asked for before it counts as never happening."""


def address(service: LiveService) -> str:
    """Where the page is."""
    return f"http://127.0.0.1:{service.port}"


class Opener(Tabs):
    """Opens the page of a service."""

    def __call__(
        self,
        *,
        series: str = "pump",
        width: int = 1400,
        scheme: Any = "light",
        ready: bool = True,
        before: Callable[[Page], None] = lambda _: None,
    ) -> Page:
        tab = self.new(width, scheme)
        tab.context.set_default_timeout(PATIENCE)
        before(tab)
        tab.goto(f"{self.address}/#{quote(series)}")
        if ready:
            tab.wait_for_selector("html[data-ready]")
        return tab


def page(tab: Page, code: str, *arguments: Any) -> Any:
    """Ask the running page, ``p``, for something: ``p => p.view.from``."""
    script = f"async given => ({code})((await import('/page/main.js')).page, ...given)"
    return tab.evaluate(script, list(arguments))


def until(tab: Page, code: str, *arguments: Any) -> None:
    """Wait until the running page says so, however long that takes on a busy machine."""
    for _ in range(TRIES):
        if page(tab, code, *arguments):
            return
        tab.wait_for_timeout(50)
    raise AssertionError(f"it never happened: {code}")


def view(tab: Page) -> tuple[float, float, bool]:
    """From where to where the charts show, and whether they follow."""
    found = page(tab, "p => [p.view.from, p.view.to, p.view.following]")
    return found[0], found[1], found[2]
