"""One service and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from service.page.backend import HOSTILE, HOSTILE_CHANNEL, Backend, rows, running
from service.page.browsing import CHROMIUM, Module, Opener, calling


@pytest.fixture(scope="session")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """A service with three series, one of which has alarms."""
    with running(tmp_path_factory.mktemp("page")) as started:
        started.push("pump", rows(["pressure", "flow"], 0, 600, jump=(500, 512)))
        started.push("fan", rows(["speed"], 0, 300, seed=1))
        started.push(HOSTILE, rows([HOSTILE_CHANNEL, "other"], 0, 300, seed=2))
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def module(browser: Browser, backend: Backend) -> Callable[[str], Module]:
    """Gives modules of the page by name, to call functions in them."""
    tab = browser.new_page()
    tab.goto(backend.address)
    return lambda name: calling(tab, name)


@pytest.fixture
def opened(browser: Browser, backend: Backend) -> Iterator[Opener]:
    """Opens pages for one test, which fails when any of them complained."""
    opener = Opener(browser, backend.address)
    yield opener
    opener.close()
    assert opener.complaints == []
