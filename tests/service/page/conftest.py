"""One service and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from service.page.browsing import CHROMIUM, Module, Opener, calling


@pytest.fixture(scope="session")
def address() -> str:
    return "http://127.0.0.1:8765"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def module(browser: Browser, address: str) -> Callable[[str], Module]:
    """Gives modules of the page by name, to call functions in them."""
    tab = browser.new_page()
    tab.goto(address)
    return lambda name: calling(tab, name)


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opener]:
    """Opens pages for one test, which fails when any of them complained."""
    opener = Opener(browser, address)
    before = [*browser.contexts]
    yield opener
    for context in browser.contexts:
        if context not in before:
            context.close()
    assert opener.complaints == []
