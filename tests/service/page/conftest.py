"""One service and one browser for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from live_service import LiveService, live
from service.page.browsing import Opener, address
from service.page.made_rows import HOSTILE, HOSTILE_CHANNEL, push, rows


@pytest.fixture(scope="session")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service with three series, one of which has alarms."""
    with live(tmp_path_factory.mktemp("page") / "data") as started:
        push(started, "pump", rows(["pressure", "flow"], 0, 600, jump=(500, 512)))
        push(started, "fan", rows(["speed"], 0, 300, seed=1))
        push(started, HOSTILE, rows([HOSTILE_CHANNEL, "other"], 0, 300, seed=2))
        yield started


@pytest.fixture
def opened(browser: Browser, backend: LiveService) -> Iterator[Opener]:
    """Opens pages for one test, which fails when any of them complained."""
    opener = Opener(browser, address(backend))
    yield opener
    opener.close()
    assert opener.complaints == []
