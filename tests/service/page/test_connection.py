"""Tokens that are asked for, and a service that goes away and comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from live_service import LiveService, live
from report.browsing import CHROMIUM
from running import GENEROUS
from service.page.browsing import Opener, address, page, until
from service.page.made_rows import push, rows

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

READ, WRITE = "a-token-for-reading", "a-token-for-writing"
LONG = GENEROUS * 1000  # milliseconds
FIRST_WAIT = 500
"""Milliseconds after which the page tries again, at first."""


def is_refusal(said: str) -> bool:
    """What the browser itself says of a refused request, or of one that found nobody."""
    return re.match(r"Failed to load resource: .*(40[13]|ERR_)", said) is not None


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("guarded")
    tokens = folder / "tokens.txt"
    tokens.write_text(f"read {READ}\nwrite {WRITE}\n", encoding="utf-8")
    with live(folder / "data", "--token-file", str(tokens)) as started:
        some = rows(["pressure"], 0, 300, jump=(280, 290))
        push(started, "pump", some, Authorization=f"Bearer {WRITE}")
        yield started


def give(tab: Page, token: str) -> None:
    expect(tab.locator("#token-dialog")).to_be_visible()
    tab.locator("#token").fill(token)
    tab.keyboard.press("Enter")


def test_a_token_is_asked_for_and_kept_in_the_tab(browser: Browser, guarded: LiveService) -> None:
    opener = Opener(browser, address(guarded))
    asked: list[str] = []
    tab = opener(ready=False)
    tab.on("request", lambda request: asked.append(request.url))
    expect(tab.locator("#token-why")).to_contain_text("token is needed")
    assert tab.locator("#series-list li").count() == 0
    # who has none is told so, and not asked again until they want to
    tab.keyboard.press("Escape")
    expect(tab.locator("#headline")).to_have_text("Nothing can be shown without a token")
    expect(tab.locator("#connection")).to_have_text("No token")
    waited = len(asked)
    tab.wait_for_timeout(3 * FIRST_WAIT)
    expect(tab.locator("#token-dialog")).to_be_hidden()
    assert len(asked) == waited
    tab.get_by_role("button", name="Give a token").click()
    give(tab, "a-token-of-somebody-else")
    expect(tab.locator("#token-why")).to_contain_text("not known")
    give(tab, READ)
    expect(tab.locator("#detail-title")).to_have_text("pump")
    expect(tab.locator("#lost")).to_be_hidden()
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
    expect(card.locator(".tag")).to_have_text(["confirmed", "acknowledged"])
    assert not [url for url in asked if "token-for" in url]
    assert [said for said in opener.complaints if not is_refusal(said)] == []
    opener.close()


def test_a_service_with_nothing_yet_says_how_to_begin_is_lost_and_found_again(
    browser: Browser, tmp_path: Path
) -> None:
    with live(tmp_path / "data") as service:
        opener = Opener(browser, address(service))
        tab = opener(series="")
        expect(tab.locator("#headline")).to_have_text("Nothing to watch yet")
        expect(tab.locator("#empty")).to_contain_text("Drop a CSV file")
        expect(tab.locator("#empty pre")).to_contain_text(
            f"curl -X POST {address(service)}/api/series/pump/rows"
        )
        expect(tab.locator("#empty pre")).not_to_contain_text("Authorization", use_inner_text=True)
        expect(tab.locator("#chosen")).to_be_hidden()
        push(service, "pump", rows(["pressure"], 0, 1))
        expect(tab.locator("#detail-title")).to_have_text("pump")
        expect(tab.locator("#empty")).to_be_hidden()
        expect(tab.locator("#detail-state")).to_contain_text("Learning")
        # of one row nothing is known but that row
        expect(tab.locator(".panel .read").nth(1)).to_have_text(re.compile(r"^\S+ · expected \S+$"))
        push(service, "pump", rows(["pressure"], 1, 199))
        until(tab, "p => p.watched.columns?.length === 200")
        expect(tab.locator("#connection")).to_have_text("Live")
        assert opener.complaints == []
        service.kill()
        expect(tab.locator("#connection")).to_have_text("Connection lost, trying again")
        assert tab.locator("#connection").get_attribute("role") == "status"
        # nobody takes a page that stands still for a calm one
        alert = tab.get_by_role("alert").filter(has_text="No connection since")
        expect(alert).to_be_visible()
        expect(tab).to_have_title("No connection · subadjacent")
        expect(tab.locator("main")).to_have_css("filter", "grayscale(1)")
        expect(tab.locator("#unlock")).to_be_hidden()
        # what is there can still be looked at
        tab.keyboard.press("+")
        assert page(tab, "p => p.view.span") < 199 * 60_000
        service.start()
        push(service, "pump", rows(["pressure"], 200, 3))
        expect(tab.locator("#connection")).to_have_text("Live", timeout=LONG)
        expect(alert).to_be_hidden()
        expect(tab).to_have_title("subadjacent")
        expect(tab.locator("main")).to_have_css("filter", "none")
        # what came meanwhile is there
        until(tab, "p => p.watched.columns.length === 203")
        expect(tab.locator("#trouble")).to_be_hidden()
        # one series goes, another of the same name comes, and nobody is told
        push(service, "fan", rows(["speed"], 0, 2))
        other = opener(series="fan")
        for one in (tab, other):
            one.route("**/api/events", lambda route: route.abort())
        service.kill()
        for one in (tab, other):
            expect(one.locator("#connection")).to_have_text("Connection lost, trying again")
        service.start()
        for name in ("pump", "fan"):
            assert service.ask("DELETE", f"/api/series/{name}").status == 204
        push(service, "pump", rows(["level"], 0, 7))
        for one in (tab, other):
            one.unroute("**/api/events")
            expect(one.locator("#connection")).to_have_text("Live", timeout=LONG)
            until(one, "p => p.watched.columns?.length === 7")
            expect(one.locator(".panel .name")).to_have_text(["Severity", "level"])
            expect(one.locator("#detail-title")).to_have_text("pump")
            assert one.locator("#series-list .series-name").all_inner_texts() == ["pump"]
        # the last one is deleted, and there is one again
        assert service.ask("DELETE", "/api/series/pump").status == 204
        expect(tab.locator("#headline")).to_have_text("Nothing to watch yet")
        expect(tab.locator("#empty")).to_be_visible()
        expect(tab.locator("#chosen")).to_be_hidden()
        assert tab.url == f"{address(service)}/"
        push(service, "boiler", rows(["heat"], 0, 2))
        expect(tab.locator("#detail-title")).to_have_text("boiler")
        expect(tab.locator("#empty")).to_be_hidden()
        until(tab, "p => p.watched.columns?.length === 2")
        assert [said for said in opener.complaints if not is_refusal(said)] == []
        opener.close()
