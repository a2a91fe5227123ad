"""Tokens that are asked for, and a service that goes away and comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from running import GENEROUS
from service.page.backend import Backend, rows, running
from service.page.browsing import CHROMIUM, Opener, page, until

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

READ, WRITE = "a-token-for-reading", "a-token-for-writing"
WITH_TOKEN = {"headers": {"Authorization": f"Bearer {WRITE}"}}
LONG = GENEROUS * 1000  # milliseconds


def is_refusal(said: str) -> bool:
    """What the browser itself says of a refused request, or of one that found nobody."""
    return re.match(r"Failed to load resource: .*(40[13]|ERR_)", said) is not None


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("guarded")
    tokens = folder / "tokens.txt"
    tokens.write_text(f"read {READ}\nwrite {WRITE}\n", encoding="utf-8")
    with running(folder, "--token-file", tokens) as started:
        started.push("pump", rows(["pressure"], 0, 300, jump=(280, 290)), **WITH_TOKEN)
        yield started


def give(tab: Page, token: str) -> None:
    expect(tab.locator("#token-dialog")).to_be_visible()
    tab.locator("#token").fill(token)
    tab.keyboard.press("Enter")


def test_a_token_is_asked_for_and_kept_in_the_tab(browser: Browser, guarded: Backend) -> None:
    opener = Opener(browser, guarded.address)
    asked: list[str] = []
    tab = opener(ready=False)
    tab.on("request", lambda request: asked.append(request.url))
    expect(tab.locator("#token-why")).to_contain_text("token is needed")
    assert tab.locator("#series-list li").count() == 0
    give(tab, "a-token-of-somebody-else")
    expect(tab.locator("#token-why")).to_contain_text("not known")
    give(tab, READ)
    expect(tab.locator("#detail-title")).to_have_text("pump")
    assert tab.evaluate("sessionStorage.getItem('subadjacent-token')") == READ
    tab.reload()
    expect(tab.locator("#detail-title")).to_have_text("pump")
    expect(tab.locator("#token-dialog")).to_be_hidden()
    # what needs another one asks for it; who has none goes on reading
    card = tab.locator(".alarm-card").first
    for token in (None, WRITE):
        card.get_by_role("button", name="Acknowledge").click()
        tab.keyboard.press("Enter")
        expect(tab.locator("#token-why")).to_contain_text("for writing")
        if token is None:
            tab.locator("#token-dialog [data-close]").click()
            expect(tab.locator("#trouble")).to_contain_text("for writing")
            assert tab.evaluate("sessionStorage.getItem('subadjacent-token')") == READ
            tab.get_by_label("Dismiss").click()
            expect(tab.locator("#trouble")).to_be_hidden()
        else:
            give(tab, token)
    expect(card.locator(".tag")).to_have_text("acknowledged")
    assert not [url for url in asked if "token-for" in url]
    assert [said for said in opener.complaints if not is_refusal(said)] == []
    opener.close()


def test_a_service_with_nothing_yet_says_how_to_begin_is_lost_and_found_again(
    browser: Browser, tmp_path: Path
) -> None:
    with running(tmp_path) as first:
        opener = Opener(browser, first.address)
        tab = opener(series="")
        expect(tab.locator("#headline")).to_have_text("Nothing to watch yet")
        expect(tab.locator("#empty")).to_contain_text("Drop a CSV file")
        expect(tab.locator("#chosen")).to_be_hidden()
        first.push("pump", rows(["pressure"], 0, 1))
        expect(tab.locator("#detail-title")).to_have_text("pump")
        expect(tab.locator("#empty")).to_be_hidden()
        expect(tab.locator("#detail-state")).to_contain_text("Learning")
        first.push("pump", rows(["pressure"], 1, 199))
        until(tab, "p => p.watched.columns?.length === 200")
        expect(tab.locator("#connection")).to_have_text("Live")
        assert opener.complaints == []
    expect(tab.locator("#connection")).to_have_text("Connection lost, trying again")
    assert tab.locator("#connection").get_attribute("role") == "status"
    # what is there can still be looked at
    tab.keyboard.press("+")
    assert page(tab, "p => p.view.span") < 199 * 60_000
    listen = first.address.removeprefix("http://")
    with running(tmp_path, listen=listen) as second:
        second.push("pump", rows(["pressure"], 200, 3))
        expect(tab.locator("#connection")).to_have_text("Live", timeout=LONG)
        # what came meanwhile is there
        until(tab, "p => p.watched.columns.length === 203")
        expect(tab.locator("#trouble")).to_be_hidden()
        assert [said for said in opener.complaints if not is_refusal(said)] == []
        opener.close()
