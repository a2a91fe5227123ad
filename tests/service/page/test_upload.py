"""A file dropped on the page: fitted, scored, its alarms shown; in a real browser."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import expect

from live_service import LiveService
from report.browsing import CHROMIUM, frame
from running import GENEROUS
from service.page.browsing import Opener, page, until, view
from service.page.made_rows import push, rows

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

LONG = GENEROUS * 1000  # milliseconds

# drops a file on the page as a file manager does
DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, {type: "text/csv"}));
  const how = {dataTransfer: carried, cancelable: true, bubbles: true};
  const told = kind => dispatchEvent(new DragEvent(kind, how));
  told("dragover");
  const marked = document.documentElement.dataset.dropping;
  told("drop");
  return [marked, document.documentElement.dataset.dropping ?? null];
}"""


def table(count: int, jump: tuple[int, int]) -> str:
    found = rows(["level", "flow"], 0, count, jump=jump, seed=9)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(found[0]))
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def test_a_dropped_file_is_fitted_its_alarms_appear_and_rows_go_on(
    opened: Opener, backend: LiveService
) -> None:
    tab = opened()
    before = tab.locator("#series-list li").count()
    marked, after = tab.evaluate(DROP, ["tank 3.csv", table(900, (700, 720))])
    assert (marked, after) == ("true", None)
    card = tab.locator(".upload")
    expect(card.locator("b")).to_have_text("tank 3.csv")
    expect(card.get_by_role("progressbar")).to_be_visible()
    # its series is there, with the place of its worst alarm in view
    expect(tab.locator("#detail-title")).to_have_text("tank 3", timeout=LONG)
    expect(card).to_have_count(0)
    expect(tab.locator("#series-list li")).to_have_count(before + 1)
    expect(tab.locator("#detail-about")).to_contain_text("model tank 3")
    expect(tab.locator(".alarm-card[aria-current]")).to_have_count(1)
    until(tab, "p => p.watched.columns?.length > 0")
    alarms = backend.get("/api/alarms?series=tank%203&state=all")["alarms"]
    assert any(one["first"] <= 719 and one["last"] >= 700 for one in alarms)
    worst = max(alarms, key=lambda one: one["severity"])
    low, high, _ = view(tab)
    start = page(tab, "p => p.watched.columns.first")
    assert low < start + 60_000 * worst["first"] <= start + 60_000 * worst["last"] < high
    # assessed by what it learns itself, then by the model again
    expect(tab.locator("#model")).to_have_value("tank 3")
    for model, told in (("", "learns from its own rows"), ("tank 3", "model tank 3")):
        tab.locator("#model").select_option(model)
        expect(tab.locator("#detail-about")).to_contain_text(told)
        assert backend.get("/api/series/tank%203")["model"] == (model or None)
    # acknowledged, and a pushed row moves the chart
    chosen = tab.locator(".alarm-card[aria-current]")
    chosen.get_by_role("button", name="Acknowledge").click()
    tab.keyboard.press("Enter")
    expect(chosen.locator(".tag")).to_contain_text(["acknowledged"])
    tab.keyboard.press("l")
    held = page(tab, "p => p.watched.columns.length")
    end = view(tab)[1]
    push(backend, "tank 3", rows(["level", "flow"], 900, 1, seed=9))
    until(tab, "(p, held) => p.watched.columns.length > held", held)
    assert view(tab)[1] == end + 60_000


def test_the_error_of_a_file_is_shown_and_can_be_dismissed(opened: Opener, tmp_path: Path) -> None:
    tab = opened()
    path = tmp_path / "short.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    tab.locator("#file").set_input_files(path)
    card = tab.locator(".upload")
    expect(card).to_have_attribute("data-failed", "true", timeout=LONG)
    expect(card.get_by_role("alert")).to_contain_text("rows")
    expect(card.get_by_role("progressbar")).to_have_count(0)
    card.get_by_label("Dismiss short.csv").click()
    expect(card).to_have_count(0)
    expect(tab.locator("#detail-title")).to_have_text("pump")


def test_a_fit_is_followed_again_when_the_service_is_back(opened: Opener) -> None:
    tab = opened()
    tab.route("**/api/jobs/*", lambda route: route.abort())
    tab.evaluate(DROP, ["tank 7.csv", table(400, (350, 360))])
    card = tab.locator(".upload")
    expect(card.get_by_role("status")).to_have_text("the service cannot be reached…")
    tab.unroute("**/api/jobs/*")
    expect(tab.locator("#detail-title")).to_have_text("tank 7", timeout=LONG)
    expect(card).to_have_count(0)
    # the browser itself says that there was no answer
    assert all("ERR_FAILED" in said for said in opened.complaints)
    opened.complaints.clear()


@pytest.mark.sweep
def test_a_dismissed_fit_is_not_opened(opened: Opener) -> None:
    tab = opened(series="fan")
    running = {"state": "running", "step": "fitting", "done": 0, "total": 0}
    tab.route("**/api/jobs/*", lambda route: route.fulfill(json=running))
    tab.evaluate(DROP, ["tank 8.csv", table(400, (350, 360))])
    expect(tab.locator(".upload").get_by_role("status")).to_have_text("fitting…")
    tab.get_by_role("button", name="Dismiss tank 8.csv").click()
    expect(tab.locator("#series-list li[data-name='tank 8']")).to_have_count(1, timeout=LONG)
    with tab.expect_response("**/api/jobs/*") as answered:
        tab.unroute("**/api/jobs/*")
    while answered.value.json()["state"] == "running":
        with tab.expect_response("**/api/jobs/*") as answered:
            pass
    # as long as the page would take to lead there
    page(tab, "p => fetch('api/series').then(answer => answer.ok)")
    frame(tab)
    expect(tab.locator("#detail-title")).to_have_text("fan")
