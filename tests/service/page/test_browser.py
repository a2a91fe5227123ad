"""The page in a real browser against the real service, used as a person would."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from live_service import LiveService
from report.browsing import CHROMIUM, frame
from service.page.browsing import Opener, page, until, view
from service.page.made_rows import HOSTILE, HOSTILE_CHANNEL, push, push_next, rows

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

MINUTE = 60_000


def centre(tab: Page, selector: str) -> tuple[float, float]:
    box = tab.locator(selector).first.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_series_are_listed_and_the_chosen_one_is_drawn(opened: Opener) -> None:
    tab = opened()
    names = tab.locator("#series-list .series-name").all_inner_texts()
    assert {"fan", "pump", HOSTILE} <= set(names)
    expect(tab.locator("[aria-selected=true] .series-name")).to_have_text("pump")
    expect(tab.locator("#detail-title")).to_have_text("pump")
    expect(tab.locator(".panel .name")).to_have_text(["Severity", "pressure", "flow"])
    expect(tab.locator("#connection")).to_have_text("Live")
    expect(tab.locator("#headline")).to_contain_text("series")
    # something is drawn in every chart, in the colour of what was seen
    drawn = tab.evaluate("""[...document.querySelectorAll(".panel canvas")].map(canvas => {
      const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === 0 && data[at + 1] === 114 && data[at + 2] === 178) count++;
      return count;
    })""")
    assert drawn[0] == 0
    assert min(drawn[1:]) > 100


def test_without_a_choice_the_worst_series_is_shown(opened: Opener) -> None:
    tab = opened(series="")
    first = tab.locator("#series-list .series-name").first.inner_text()
    expect(tab.locator("#detail-title")).to_have_text(first)
    tab.locator("#series-list li", has_text="fan").click()
    expect(tab.locator("#detail-title")).to_have_text("fan")
    assert tab.url.endswith("#fan")
    tab.reload()
    expect(tab.locator("#detail-title")).to_have_text("fan")


@pytest.mark.sweep
def test_an_address_that_names_no_series_shows_the_worst(opened: Opener) -> None:
    # the page itself would write the sign of percent another way
    tab = opened(series="", before=lambda tab: tab.goto(f"{opened.address}/#50%"))
    first = tab.locator("#series-list .series-name").first.inner_text()
    expect(tab.locator("#detail-title")).to_have_text(first)
    expect(tab.locator("#trouble")).to_be_hidden()


def test_a_link_to_a_series_leads_there_in_an_open_page(opened: Opener) -> None:
    tab = opened(series="pump")
    tab.evaluate("location.hash = '#fan'")
    expect(tab.locator("#detail-title")).to_have_text("fan")
    # a key leads past the list, and the address still names the series
    tab.keyboard.press("Tab")
    expect(tab.locator("#skip")).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab.locator("#detail")).to_be_focused()
    assert tab.url.endswith("#fan")


@pytest.mark.sweep
def test_the_chosen_series_is_in_sight_in_a_long_list(opened: Opener, backend: LiveService) -> None:
    names = [f"zz {number:02}" for number in range(30)]
    for name in names:
        push(backend, name, rows(["a"], 0, 1))
    tab = opened(series=names[-1], width=1000)
    expect(tab.locator("#detail-title")).to_have_text(names[-1])
    inside = """name => {
      const list = document.querySelector("#series-list"), box = list.getBoundingClientRect();
      const own = list.querySelector(`[data-name="${name}"]`).getBoundingClientRect();
      return own.top >= box.top - 1 && own.bottom <= box.bottom + 1 && scrollY === 0;
    }"""
    assert tab.evaluate(inside, names[-1])
    page(tab, "(p, name) => p.list.choose(name)", names[0])
    assert tab.evaluate(inside, names[0])
    for name in names:
        backend.ask("DELETE", f"/api/series/{quote(name)}")


def test_alarms_are_unseen_until_they_are_acknowledged(
    opened: Opener, backend: LiveService
) -> None:
    push(backend, "unseen", rows(["pressure", "flow"], 0, 600, jump=(300, 312)))
    tab = opened(series="unseen")
    # by its name: other series may have unseen alarms as well
    state = tab.locator("#series-list li[data-name=unseen] .state")
    expect(state).to_have_text("Calm · 1 unseen alarm")
    expect(tab.locator("#alarm-count")).to_have_text("0 open, 1 closed · 1 unseen")
    tab.locator("#filter").fill("unseen flow")
    expect(tab.locator("#detail-title")).to_have_text("unseen")
    (alarm,) = backend.get("/api/alarms?series=unseen")["alarms"]
    assert backend.ask("POST", f"/api/alarms/{alarm['id']}/acknowledge", {}).status == 200
    expect(state).to_have_text("Calm")
    expect(tab.locator("#alarm-count")).to_have_text("0 open, 1 closed")


def test_repeats_are_folded_and_withdrawn_alarms_are_counted_apart(
    opened: Opener, backend: LiveService
) -> None:
    push(backend, "folded", rows(["pressure", "flow"], 0, 600, jump=(300, 312)))
    (found,) = backend.get("/api/alarms?series=folded")["alarms"]
    tab = opened(series="folded")

    def at(place: int, **others: object) -> dict[str, object]:
        start = f"2026-01-01T0{5 + place}:00:00"
        number = found["number"] + place
        known = {**found, "id": found["id"] + 10_000 + place, "number": number, "start": start}
        return known | {"repeat_of": found["number"], "repeat": 1 + place} | others

    repeats = [at(1, status="withdrawn"), at(2, status="provisional")]
    page(tab, "(p, some) => p.alarms.add(some)", repeats)
    cards = tab.locator(".alarm-card")
    button = tab.get_by_role("button", name="3 of this kind since 05:00")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(cards).to_have_count(1)
    expect(tab.locator("#alarm-count")).to_have_text("0 open, 2 closed · 2 unseen · 1 withdrawn")
    # by keyboard alone, and the button keeps the focus
    button.focus()
    tab.keyboard.press("Enter")
    expect(cards.locator(".status")).to_have_text(["confirmed", "provisional", "withdrawn"])
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(cards.last.locator(".sentence")).to_have_css("text-decoration-line", "line-through")
    tab.keyboard.press("Enter")
    expect(cards).to_have_count(1)
    # one that is open is never hidden, and choosing a repeat opens its kind
    page(tab, "(p, some) => p.alarms.add(some)", [at(3, state="open", status="provisional")])
    expect(cards).to_have_count(2)
    page(tab, "(p, id) => p.alarms.choose(id)", repeats[0]["id"])
    expect(cards).to_have_count(4)
    assert backend.ask("DELETE", "/api/series/folded").status == 204


def test_how_bad_a_series_is_does_not_depend_on_how_many_alarms_came_after_its_own(
    opened: Opener, backend: LiveService
) -> None:
    push(backend, "early", rows(["pressure", "flow"], 0, 420, jump=(412, 420)))
    (alarm,) = backend.get("/api/alarms?series=early&state=open")["alarms"]

    def newer(tab: Page) -> None:
        # as if so many were newer that it is not among those that are asked for first
        tab.route("**/api/alarms?state=all*", lambda route: route.fulfill(json={"alarms": []}))

    tab = opened(series="fan", before=newer)
    state = tab.locator("#series-list li[data-name=early] .state")
    expect(state).to_have_text(f"Alarm · severity {alarm['severity']:.1f}")
    # one that is open is not over: it is not counted as unseen
    tab.locator("#series-list li[data-name=early]").click()
    expect(tab.locator("#alarm-count")).to_have_text("1 open, 0 closed")
    assert backend.ask("DELETE", "/api/series/early").status == 204


def test_the_wanted_series_is_shown_whatever_comes_first(
    opened: Opener, backend: LiveService
) -> None:
    def hold(route: Route) -> None:
        # events of another series come before the list of all
        push_next(backend, "fan", 1)
        route.continue_()

    tab = opened(before=lambda tab: tab.route("**/api/series", hold))
    expect(tab.locator("#detail-title")).to_have_text("pump")
    expect(tab.locator("[aria-selected=true] .series-name")).to_have_text("pump")


def test_a_series_that_is_deleted_goes_with_its_alarms(
    opened: Opener, backend: LiveService
) -> None:
    for name in ("brief", "short"):
        push(backend, name, rows(["level"], 0, 320, jump=(300, 310)))
    tab = opened(series="brief")
    tab.locator(".scope label", has_text="All").click()
    cards = tab.locator(".alarm-card")
    for name in ("short", "brief"):
        expect(cards.filter(has_text=name)).not_to_have_count(0)
        assert backend.ask("DELETE", f"/api/series/{name}").status == 204
        expect(tab.locator("#series-list li", has_text=name)).to_have_count(0)
        expect(cards.filter(has_text=name)).to_have_count(0)
        expect(tab.locator("#detail-title")).not_to_have_text("short")
        if name == "short":
            # another one than is looked at
            expect(tab.locator("#detail-title")).to_have_text("brief")
    first = tab.locator("#series-list .series-name").first.inner_text()
    expect(tab.locator("#detail-title")).to_have_text(first)
    expect(tab.locator("[aria-selected=true] .series-name")).to_have_text(first)


def test_names_are_shown_as_text_whatever_is_in_them(opened: Opener) -> None:
    tab = opened(series=HOSTILE)
    expect(tab.locator("#detail-title")).to_have_text(HOSTILE)
    expect(tab.locator(".panel .name").nth(1)).to_have_text(HOSTILE_CHANNEL)
    assert tab.locator("img, #detail b[onclick]").count() == 0
    assert tab.title() in ("subadjacent", "(1) subadjacent")
    summary = tab.locator(".panel .hidden").nth(1)
    expect(summary).to_contain_text(HOSTILE_CHANNEL)


def test_a_click_on_an_alarm_leads_to_its_place(opened: Opener, backend: LiveService) -> None:
    tab = opened()
    alarms = backend.get("/api/alarms?series=pump&state=all")["alarms"]
    found = next(one for one in alarms if one["first"] <= 505 <= one["last"])
    card = tab.locator(f".alarm-card[data-id='{found['id']}']")
    expect(card.locator(".sentence")).to_have_text(found["sentence"])
    for name in ("Acknowledge", "Mark as normal"):
        button = card.get_by_role("button", name=name)
        expect(button).to_have_accessible_description(re.compile(re.escape(found["sentence"])))
    card.locator(".go").click()
    expect(card).to_have_attribute("aria-current", "true")
    expect(tab.locator("#why")).to_have_text(found["sentence"])
    start = page(tab, "p => p.watched.columns.first")
    low, high, following = view(tab)
    assert low < start + found["first"] * MINUTE < start + found["last"] * MINUTE < high
    assert not following
    # and back, by the keyboard
    tab.keyboard.press("Escape")
    assert view(tab)[:2] == (start - MINUTE / 2, page(tab, "p => p.view.whole[1]"))
    expect(tab.locator("[aria-current]")).to_have_count(0)
    # a tap on its mark in the chart chooses it, too
    box = tab.locator(".panel canvas").first.bounding_box()
    assert box
    at = page(tab, "(p, at) => (at - p.view.from) / p.view.span", start + 506 * MINUTE)
    left = page(tab, "p => p.charts.left")
    tab.mouse.click(box["x"] + left + at * (box["width"] - left - 10), box["y"] + 40)
    expect(card).to_have_attribute("aria-current", "true")


def test_an_alarm_is_acknowledged_with_a_note(opened: Opener, backend: LiveService) -> None:
    tab, other = opened(), opened()
    card = tab.locator(".alarm-card").last
    number = card.get_attribute("data-id")
    card.get_by_role("button", name="Acknowledge").click()
    card.get_by_label("Note").fill("<i>seen</i>, a valve")
    tab.keyboard.press("Enter")
    expect(card.locator(".tag")).to_have_text(["confirmed", "acknowledged"])
    expect(card.locator(".note")).to_have_text("“<i>seen</i>, a valve”")
    expect(card.get_by_role("button", name="Acknowledge")).to_have_count(0)
    found = backend.get(f"/api/alarms/{number}")
    assert (found["acknowledged"], found["note"]) == (True, "<i>seen</i>, a valve")
    # others who look are told
    tags = other.locator(f"[data-id='{number}'] .tag")
    expect(tags).to_have_text(["confirmed", "acknowledged"])


def test_an_alarm_is_marked_as_normal(opened: Opener, backend: LiveService) -> None:
    push(backend, "normal", rows(["a"], 0, 400, jump=(390, 400)))
    tab = opened(series="normal")
    card = tab.locator(".alarm-card").first
    number = card.get_attribute("data-id")
    card.get_by_role("button", name="Mark as normal").click()
    expect(card.locator(".tag")).to_have_text(["confirmed", "marked as normal"])
    expect(card.locator(".act")).to_have_count(0)
    assert backend.get(f"/api/alarms/{number}")["normal"] is True


@pytest.mark.sweep
def test_a_note_can_be_left_unwritten(opened: Opener, backend: LiveService) -> None:
    push(backend, "unread", rows(["a"], 0, 400, jump=(390, 400)))
    tab = opened(series="unread")
    acknowledge = tab.locator(".alarm-card").first.get_by_role("button", name="Acknowledge")
    acknowledge.click()
    expect(tab.get_by_label("Note")).to_be_focused()
    tab.keyboard.press("Escape")
    expect(tab.get_by_label("Note")).to_have_count(0)
    expect(acknowledge).to_be_visible()
    # the key was for the note: the view stays
    assert view(tab)[2]


def test_a_series_is_muted_and_unmuted(opened: Opener, backend: LiveService) -> None:
    tab = opened(series="fan")
    tab.locator("#mute").select_option("8h")
    expect(tab.locator("#detail-state")).to_have_text("Muted · 8 h left")
    assert backend.get("/api/series/fan")["state"] == "muted"
    expect(tab.locator("#series-list li").last.locator(".series-name")).to_have_text("fan")
    tab.locator("#unmute").click()
    expect(tab.locator("#detail-state")).not_to_contain_text("Muted")
    assert backend.get("/api/series/fan")["state"] != "muted"


def test_a_time_names_its_clock(opened: Opener, backend: LiveService) -> None:
    for name, last, told in (
        ("with a zone", "2026-01-01T12:00:00+02:00", "last 2026-01-01 10:00 UTC ·"),
        ("without one", "2026-01-01T12:00:00", "last 2026-01-01 12:00 ·"),
    ):
        push(backend, name, [{"time": last, "a": 1.0}])
        expect(opened(series=name).locator("#detail-about")).to_contain_text(told)


def test_a_pushed_row_moves_the_chart(opened: Opener, backend: LiveService) -> None:
    tab = opened(series="fan")
    expect(tab.locator("html")).to_have_attribute("data-shown", "fan")
    before, picture = view(tab), "document.querySelectorAll('.panel canvas')[1].toDataURL()"
    frame(tab)
    drawn, held = tab.evaluate(picture), page(tab, "p => p.watched.columns.length")
    push_next(backend, "fan", 1)
    until(tab, "(p, n) => p.watched.columns.length > n", held)
    frame(tab)
    assert view(tab)[1] == before[1] + MINUTE
    assert tab.evaluate(picture) != drawn
    # what does not follow stays where it is
    tab.keyboard.press("ArrowLeft")
    still = view(tab)
    assert still[2] is False
    expect(tab.locator("#live")).to_have_attribute("aria-pressed", "false")
    push_next(backend, "fan", 1)
    until(tab, "(p, n) => p.watched.columns.length > n", held + 1)
    assert view(tab) == still
    tab.keyboard.press("l")
    assert view(tab)[1] == before[1] + 2 * MINUTE
    expect(tab.locator("#live")).to_have_attribute("aria-pressed", "true")


def test_of_many_rows_at_once_all_are_drawn(opened: Opener, backend: LiveService) -> None:
    push(backend, "many", rows(["a"], 0, 50))
    tab = opened(series="many")
    push_next(backend, "many", 400)
    until(tab, "p => p.watched.columns.length === 450")
    assert page(tab, "p => p.watched.columns.rows") == list(range(450))
    assert view(tab)[2]


def test_a_new_alarm_is_announced_and_its_series_comes_first(
    opened: Opener, backend: LiveService
) -> None:
    push(backend, "valve", rows(["opening"], 0, 300, seed=5))
    tab = opened()
    push_next(backend, "valve", 3, jump=(300, 303))
    expect(tab.locator("#announce")).to_contain_text("New alarm in valve: ")
    first = tab.locator("#series-list li", has_text="valve")
    expect(first).to_have_attribute("data-state", "alarm")
    worst = backend.get("/api/alarms?series=valve")["alarms"][0]["severity"]
    expect(first.locator(".state")).to_have_text(f"Alarm · severity {worst:.1f}")
    expect(tab.locator("#headline")).to_contain_text("open alarm")
    expect(tab).to_have_title(re.compile(r"^\(\d\) subadjacent$"))
    # in the list of all alarms it stands with the name of its series
    tab.locator(".scope label", has_text="All").click()
    card = tab.locator(".alarm-card", has=tab.locator(".entity", has_text="valve")).first
    expect(card).to_have_attribute("data-state", "open")
    card.locator(".go").click()
    expect(tab.locator("#detail-title")).to_have_text("valve")
    push_next(backend, "valve", 60)


def test_all_is_done_by_keyboard(opened: Opener) -> None:
    tab = opened()
    tab.keyboard.press("/")
    expect(tab.locator("#filter")).to_be_focused()
    tab.keyboard.type("fa")
    expect(tab.locator("#series-list li")).to_have_count(1)
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("#series-list li")).to_be_focused()
    expect(tab.locator("#detail-title")).to_have_text("fan")
    tab.keyboard.press("/")
    tab.keyboard.press("Escape")
    expect(tab.locator("#filter")).to_have_value("")
    tab.keyboard.press("ArrowDown")
    items = tab.locator("#series-list li")
    expect(items.first).to_be_focused()
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Home", 0)):
        tab.keyboard.press(key)
        expect(items.nth(place)).to_be_focused()
        expect(items.nth(place)).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("End")
    expect(items.last).to_be_focused()
    # only one of them is a stop of the tab key, and what has the focus shows it
    assert items.evaluate_all("all => all.filter(one => one.tabIndex === 0).length") == 1
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) == "solid"


def test_keys_zoom_move_and_step_through_alarms(opened: Opener) -> None:
    tab = opened()
    expect(tab.locator("html")).to_have_attribute("data-shown", "pump")
    whole = view(tab)
    tab.keyboard.press("+")
    closer = view(tab)
    assert closer[1] - closer[0] == pytest.approx((whole[1] - whole[0]) / 2)
    assert closer[1:] == whole[1:]
    tab.keyboard.press("ArrowLeft")
    earlier = view(tab)
    assert earlier[0] == pytest.approx(closer[0] - (closer[1] - closer[0]) / 4)
    tab.keyboard.press("-")
    assert view(tab)[1] - view(tab)[0] == pytest.approx(whole[1] - whole[0])
    tab.keyboard.press("a")
    start, end = page(tab, "p => p.view.whole")
    assert view(tab)[:2] == (start, end)
    for key, place in (("j", 0), ("k", -1)):
        tab.keyboard.press(key)
        card = tab.locator(".alarm-card").nth(place)
        expect(card).to_have_attribute("aria-current", "true")
    tab.keyboard.press("?")
    expect(tab.locator("#help-dialog")).to_be_visible()
    tab.keyboard.press("j")
    expect(tab.locator(".alarm-card").nth(-1)).to_have_attribute("aria-current", "true")
    tab.keyboard.press("Escape")
    expect(tab.locator("#help-dialog")).to_be_hidden()
    # the row that is read
    tab.keyboard.press("Escape")
    tab.keyboard.press("Shift+ArrowRight")
    last = page(tab, "p => p.charts.pointer")
    tab.keyboard.press("Shift+ArrowLeft")
    assert page(tab, "p => p.charts.pointer") == last - 1
    expect(tab.locator("#pointed")).not_to_be_empty()


def test_what_is_pointed_at_is_read_out(opened: Opener) -> None:
    tab = opened()
    tab.mouse.move(*centre(tab, ".panel canvas >> nth=1"))
    frame(tab)
    row = page(tab, "p => p.charts.pointer")
    value, low, high = page(
        tab,
        "(p, row) => ['values', 'low', 'high'].map(one => p.watched.columns[one].pressure[row])",
        row,
    )
    told = tab.locator(".panel .read").nth(1).inner_text()
    assert told == f"{value:.2f} · expected {low:.2f} to {high:.2f}"
    assert 150 < row < 550
    hours, minutes = divmod(row, 60)
    expect(tab.locator("#pointed")).to_have_text(f"2026-01-01 {hours:02}:{minutes:02}")
    tab.mouse.move(5, 5)
    expect(tab.locator("#pointed")).to_be_empty()


def test_nothing_is_wider_than_the_screen(opened: Opener) -> None:
    for name in ("pump", HOSTILE):
        tab = opened(width=1100, series=name)
        expect(tab.locator("html")).to_have_attribute("data-shown", name)
        tab.locator(".scope label", has_text="All").click()
        for width in (1100, 768, 360):
            tab.set_viewport_size({"width": width, "height": 900})
            frame(tab)
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            beyond = tab.locator("main *").evaluate_all(
                "(all, width) => all.filter(one => one.getBoundingClientRect().right > width + 1 &&"
                " !one.closest('.hidden')).map(one => one.outerHTML.slice(0, 80))",
                width,
            )
            assert beyond == []


def test_more_channels_than_fit_are_shown_when_asked_for(
    opened: Opener, backend: LiveService
) -> None:
    names = [f"sensor {number}" for number in range(8)]
    push(backend, "wide", rows(names, 0, 150, seed=8))
    tab = opened(series="wide")
    expect(tab.locator(".panel")).to_have_count(6)
    tab.get_by_role("button", name="Show all 8 channels").click()
    expect(tab.locator(".panel .name")).to_have_text(["Severity", *names])
    tab.get_by_role("button", name="Show fewer channels").click()
    expect(tab.locator(".panel")).to_have_count(6)
