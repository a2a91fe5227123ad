"""The report in a real browser, used as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page

from report.attentive import AttentiveDetector
from report.browsing import (
    CHROMIUM,
    Opener,
    channels,
    chosen,
    drawn,
    frame,
    pixels,
    point,
    spans,
    view,
    whole,
)
from report.sample import CHANNELS, dated, explainer_of
from report.taxi import taxi_trips
from subadjacent import BaseDetector, MagnitudeDetector, SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.decision.alarms import Alarm
from subadjacent.decision.baseline_profile import FIELDS, BaselineProfiles
from subadjacent.decision.causes import named_causes
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.channels import MAX_CHANNELS
from subadjacent.report.page import page
from subadjacent.report.panels import in_words

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

ROW = 300_000  # milliseconds
LIGHT_GRID, DARK_GRID = (232, 235, 240), (35, 42, 51)


@pytest.fixture(scope="module")
def report(
    named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm], plant: Plant
) -> str:
    return page(named, assessed, title="Plant", labels=plant.labels, alarms=alarms)


@pytest.fixture
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opener]:
    """Opens pages for one test, which fails when any of them complained."""
    opener = Opener(browser, tmp_path_factory.mktemp("report"))
    yield opener
    opener.close()


@pytest.fixture(scope="module")
def shared(
    browser: Browser, report: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Page, Opener]]:
    opener = Opener(browser, tmp_path_factory.mktemp("report"))
    yield opener(report), opener
    opener.close()


@pytest.fixture
def tab(shared: tuple[Page, Opener]) -> Page:
    """The report, opened once and zoomed out; most tests need no page of their own."""
    page, _ = shared
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)
    frame(page)
    return page


def test_every_alarm_is_in_the_table_and_a_click_zooms_there_and_shows_its_channels(
    opened: Opener, report: str, alarms: list[Alarm]
) -> None:
    tab = opened(report)
    sentences = tab.locator("#alarm-table .sentence").all_inner_texts()
    assert sentences == [alarm.sentence for alarm in alarms]
    # the worst is chosen at first
    severities = [alarm.severity for alarm in alarms]
    assert chosen(tab) == str(severities.index(max(severities)))
    for number, alarm in enumerate(alarms):
        tab.locator(f"tr[data-alarm='{number}'] td").first.click()
        frame(tab)
        start, end = view(tab)
        assert start <= alarm.start.timestamp() * 1000 <= alarm.end.timestamp() * 1000 <= end
        # a hundred rows of five minutes to either side
        assert end - start <= (2 * max(100, alarm.duration) + alarm.duration) * ROW
        buttons = tab.locator(f"tr[data-alarm='{number}'] .cause").all_inner_texts()
        assert buttons == [f"{one.channel} {one.kind}" for one in named_causes(alarm.causes)]
        title = tab.locator("#detail-title").inner_text()
        assert title == f"Alarm {number + 1} of {len(alarms)}: {alarm.sentence}"
        # under each other: the name as it is, what the channel did, and a ring at the row it did so
        words = tab.locator(".channel .words").all_inner_texts()
        assert words[: len(named_causes(alarm.causes))] == [
            cause.sentence for cause in named_causes(alarm.causes)
        ]
        for place, cause in enumerate(named_causes(alarm.causes)):
            ring = drawn(tab, place, "ring")
            assert ring["value"] == cause.seen
            assert ring["at"] == pytest.approx(cause.at.timestamp() * 1000)
        # one time for all, below the last channel and the severity
        timed = tab.locator(".panel.timed").evaluate_all(
            "all => all.map(one => one.dataset.panel ?? one.dataset.channel)"
        )
        assert timed == [str(CHANNELS.index(channels(tab)[-1])), "severity"]
        # the panel of the view that raised it says so
        assert alarm.view is not None
        raised = tab.locator("figure[data-raised] b").all_inner_texts()
        assert [one.lower() for one in raised] == [in_words(alarm.view).lower()]
    tab.keyboard.press("Escape")
    frame(tab)
    assert tab.get_by_text("raised this alarm").locator("visible=true").count() == 0
    assert drawn(tab, 0, "ring") is None
    assert "".join(tab.locator(".channel .told").all_inner_texts()) == ""


def test_every_alarm_is_shaded_and_its_shade_leads_to_it(
    opened: Opener, named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    long = replace(alarms[0], first=600, last=700)
    other = replace(alarms[1], first=300, last=304, severity=0.5)
    tab = opened(page(named, assessed, title="", alarms=[other, long]))

    def shaded(*numbers: bool) -> list[tuple[int, int, bool]]:
        bounds = [(300, 305), (600, 701)]
        return [(*bound, one) for bound, one in zip(bounds, numbers, strict=True)]

    assert spans(tab) == shaded(False, True)
    # all of it is in view: a hundred rows more, or as many as it has, to either side
    start, end = view(tab)
    assert end - start == pytest.approx((3 * 101) * ROW, rel=0.01)
    tab.keyboard.press("j")
    assert spans(tab) == shaded(True, False)
    # a click on its marker in the strip leads to an alarm
    box = tab.locator("#overview").bounding_box()
    assert box
    left = tab.evaluate("report.charts.left")
    across = left + 650 / 1_000 * (box["width"] - left - 10)
    tab.mouse.click(box["x"] + across, box["y"] + 5)
    frame(tab)
    assert chosen(tab) == "1"
    assert spans(tab) == shaded(False, True)
    assert pixels(tab, "#overview", 213, 94, 0) > 20
    tab.keyboard.press("Escape")
    assert spans(tab) == shaded(False, False)
    # and so does one on its shade in a chart
    point(tab, whole(tab)[0] + 302.5 * ROW)
    tab.mouse.down()
    tab.mouse.up()
    assert chosen(tab) == "0"


def test_repeats_are_folded_under_the_first_of_their_kind(
    opened: Opener, named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    def at(number: int, first: int, severity: float, **others: Any) -> Alarm:
        known = replace(alarms[0], number=number, first=first, last=first + 9, severity=severity)
        return replace(known, **others)

    listed = [
        at(1, 100, 2.0),
        at(2, 200, 4.0),
        at(3, 250, 3.0, repeat_of=1, repeat=2),
        at(4, 280, 5.0, repeat_of=1, repeat=3, status="withdrawn"),
    ]
    tab = opened(page(named, assessed, title="", alarms=listed))
    rows = tab.locator("#alarm-table tbody tr")

    def shown() -> list[str]:
        return rows.locator("visible=true").evaluate_all("all => all.map(r => r.dataset.alarm)")

    # the worst that stands, though a withdrawn one was worse
    assert chosen(tab) == "1"
    assert shown() == ["0", "1"]
    button = tab.get_by_role("button", name="3 of this kind since 08:20")
    assert button.get_attribute("aria-expanded") == "false"
    # by keyboard alone; the alarm that the button stands in is not chosen by it
    button.focus()
    tab.keyboard.press("Enter")
    assert (button.get_attribute("aria-expanded"), chosen(tab)) == ("true", "1")
    assert shown() == ["0", "1", "2", "3"]
    tab.keyboard.press("Space")
    assert shown() == ["0", "1"]
    # going to a repeat opens its kind
    tab.keyboard.press("j")
    assert chosen(tab) == "2"
    assert len(shown()) == 4
    # sorted, repeats stay below the first of their kind
    tab.locator("th", has_text="Severity").locator("button").click()
    assert shown() == ["0", "2", "3", "1"]
    button.click()
    assert shown() == ["0", "1"]
    tab.locator("tr[data-alarm='0']").focus()
    tab.keyboard.press("ArrowDown")
    assert chosen(tab) == "1"
    # the withdrawn one is struck through, and its shade is grey
    button.click()
    struck = "one => getComputedStyle(one).textDecorationLine"
    lines = rows.locator(".sentence").evaluate_all(f"all => all.map({struck})")
    assert lines == ["none", "none", "line-through", "none"]
    grey = tab.evaluate("report.charts.spans.map(one => one.withdrawn)")
    assert grey == [False, False, False, True]
    # on paper nothing is folded
    button.click()
    tab.emulate_media(media="print")
    assert len(shown()) == 4


def test_keys_go_from_alarm_to_alarm_zoom_and_read_rows(tab: Page) -> None:
    count = tab.locator("#alarm-table tbody tr").count()
    at = -1
    for key, by in (("j", 1), ("ArrowRight", 1), ("k", -1), ("ArrowLeft", -1), ("k", -1)):
        tab.keyboard.press(key)
        at = (at + by) % count
        assert chosen(tab) == str(at)
    tab.keyboard.press("Escape")
    assert view(tab) == whole(tab)
    assert chosen(tab) is None
    start, end = whole(tab)
    tab.keyboard.press("+")
    assert view(tab)[1] - view(tab)[0] == pytest.approx((end - start) / 2)
    tab.keyboard.press("-")
    assert view(tab) == pytest.approx([start, end])
    tab.keyboard.press("Shift+ArrowLeft")
    tab.keyboard.press("Shift+ArrowLeft")
    frame(tab)
    # the last row but one, which is read out in every chart
    assert tab.locator("#pointed").inner_text() == "2026-01-04 11:10"
    assert tab.locator("#charts .read").first.is_visible()
    # the table by keyboard alone
    tab.locator("tr[data-alarm='0']").focus()
    tab.keyboard.press("Enter")
    assert chosen(tab) == "0"
    tab.keyboard.press("ArrowDown")
    assert chosen(tab) == tab.evaluate("document.activeElement.dataset.alarm") == "1"


def test_zoom_and_pan_by_mouse_are_those_of_all_charts(tab: Page) -> None:
    # the plain wheel scrolls the page
    point(tab, sum(whole(tab)) / 2)
    tab.mouse.wheel(0, 30)
    tab.wait_for_function("() => scrollY > 0")
    assert view(tab) == whole(tab)
    point(tab, sum(whole(tab)) / 2)
    tab.keyboard.down("Control")
    tab.mouse.wheel(0, -400)
    tab.keyboard.up("Control")
    tab.wait_for_function(
        "() => report.view.span < 0.6 * (report.view.whole[1] - report.view.whole[0])"
    )
    before = view(tab)
    tab.mouse.down()
    tab.mouse.move(1_200, 400, steps=3)
    tab.mouse.up()
    frame(tab)
    after = view(tab)
    assert after[0] < before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])
    # every chart draws that segment: places of its points lie in it, one beside it at most
    for panel in range(tab.locator("#charts canvas").count()):
        places = drawn(tab, panel, "points")[::2]
        assert sum(after[0] <= place <= after[1] for place in places) >= len(places) - 2 > 100
    # in the strip a drag beside the segment chooses another one
    strip = tab.locator("#overview")
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box
    left, (start, end) = tab.evaluate("report.charts.left"), whole(tab)
    wide = box["width"] - left - 10
    tab.keyboard.press("Escape")
    for share, act in ((0.2, tab.mouse.down), (0.3, tab.mouse.up)):
        tab.mouse.move(box["x"] + left + share * wide, box["y"] + 60, steps=3)
        act()
    low, high = ((place - start) / (end - start) for place in view(tab))
    assert (low, high) == pytest.approx((0.2, 0.3), abs=0.01)
    tab.locator("#further").click()
    assert view(tab)[1] - view(tab)[0] == pytest.approx(0.2 * (end - start), rel=0.05)


def test_the_table_sorts(tab: Page) -> None:
    severity = tab.locator("th", has_text="Severity")
    rows = tab.locator("#alarm-table tbody tr")
    for order, reverse in (("descending", True), ("ascending", False)):
        severity.locator("button").click()
        found = rows.evaluate_all("rows => rows.map(row => Number(row.dataset.severity))")
        assert found == sorted(found, reverse=reverse)
        assert severity.get_attribute("aria-sort") == order
    when = tab.locator("th", has_text="When")
    assert when.get_attribute("aria-sort") == "none"
    when.locator("button").click()
    found = rows.evaluate_all("rows => rows.map(row => Number(row.dataset.alarm))")
    assert found == sorted(found)


def test_values_and_the_expected_range_are_drawn_as_they_are(
    tab: Page, assessed: Assessment, plant: Plant
) -> None:
    tab.keyboard.press("j")
    tab.keyboard.press("Escape")
    # as many rows as there is room for by themselves
    tab.evaluate("report.view.show(report.view.whole[0], report.view.whole[0] + 400 * 3e5)")
    frame(tab)
    channel = CHANNELS.index(channels(tab)[0])
    usual, values = explainer_of(assessed).expected_range(channel), plant.test[:, channel]
    seen, band = (np.array(drawn(tab, 0, name), dtype=float) for name in ("points", "band"))
    np.testing.assert_allclose(seen[1::2][:400], values[:400], rtol=1e-6)
    near = {"rtol": 0, "atol": 1e-4 * float(np.ptp(usual.expected))}
    np.testing.assert_allclose(band[1::3][:400], usual.low[:400], **near)
    np.testing.assert_allclose(band[2::3][:400], usual.high[:400], **near)
    assert drawn(tab, 0, "roles") == ["expected", "seen"]
    low, high = drawn(tab, 0, "limits")
    assert low < min(usual.low[:400].min(), values[:400].min())
    assert high > max(usual.high[:400].max(), values[:400].max())
    # and it is painted, below the data
    assert pixels(tab, ".channel canvas", 0, 114, 178) > 200
    assert pixels(tab, ".channel canvas", 107, 127, 153, 56) > 1_000
    # the threshold is where the severity is one
    last = tab.locator("#charts canvas").count() - 1
    assert drawn(tab, last, "threshold") == 1
    assert drawn(tab, last, "limits")[0] <= 0


def test_labels_and_training_rows_are_shaded_and_named(
    opened: Opener, named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm], tab: Page
) -> None:
    shades = "report.charts.shades.map(one => [one.role, one.from, one.to])"
    assert {role for role, *_ in tab.evaluate(shades)} == {"label"}
    first = min(alarm.first for alarm in alarms)
    fitted = [row <= first for row in range(1_000)]
    tab = opened(page(named, assessed, title="", alarms=alarms, fitted=fitted))
    # others may have tags of their own
    tag = tab.locator(".tag", has_text="in training part")
    assert tag.count() == 1
    assert tab.locator("tr", has=tag).get_attribute("data-alarm") == "0"
    assert "fitted on this part" in tab.locator("#whole .legend").inner_text()
    start = whole(tab)[0]
    (shade,) = tab.evaluate(shades)
    assert shade == ["fitted", start, pytest.approx(start + (first + 1) * ROW)]
    for rows, told in ((1_000, "partly fitted on"), (first + 1, "fitted on this part")):
        tab.evaluate(f"report.view.show({start}, {start + rows * ROW})")
        frame(tab)
        assert tab.locator("#segment").inner_text().endswith(f"every row · {told}")


def test_a_choice_switches_between_entities(
    opened: Opener, named: SubAdjacentDetector, plant: Plant
) -> None:
    parts = {"north": dated(plant.test[:600]), "south": dated(plant.test[600:], "2026-05-01")}
    found = named.assess(parts)
    alarms = [
        replace(alarm, first=alarm.first, last=alarm.first + 4) for alarm in found.alarms(again=0)
    ]
    assert {alarm.entity for alarm in alarms} == set(parts)
    tab = opened(page(named, found, title="Two", alarms=alarms))
    ranges = {}
    for entity in ("north", "south", "north"):
        tab.locator("#entity").select_option(label=entity)
        ranges[entity] = whole(tab)
        # zoomed to the worst of that entity's alarms
        start, end = view(tab)
        assert ranges[entity][0] <= start < end <= ranges[entity][1]
        assert end - start < 0.8 * (ranges[entity][1] - ranges[entity][0])
        own = tab.locator("#alarm-table tbody tr", has_text=entity)
        severities = own.evaluate_all("rows => rows.map(row => Number(row.dataset.severity))")
        current = tab.locator("tr[aria-current]")
        assert entity in current.inner_text()
        assert float(current.get_attribute("data-severity") or 0) == max(severities)
    assert ranges["north"][1] < ranges["south"][0]
    # an alarm brings its entity with it
    tab.locator("tr", has_text="south").first.click()
    assert tab.locator("#entity").evaluate("one => one.selectedOptions[0].text") == "south"
    assert whole(tab) == ranges["south"]


def test_the_theme_follows_the_system_and_the_button_and_paper_is_light(
    opened: Opener, report: str
) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    tab = opened(report, scheme="dark")
    dark = tab.evaluate(background)
    assert pixels(tab, ".channel canvas", *DARK_GRID) > 300
    tab.locator("#theme").click()
    frame(tab)
    assert tab.evaluate(background) != dark
    assert pixels(tab, ".channel canvas", *LIGHT_GRID) > 300
    # the choice is kept, until it is what the system says anyway; Chromium may still be writing it
    # down when the page is loaded again
    for _ in range(50):
        tab.reload()
        if tab.evaluate(background) != dark:
            break
    assert tab.evaluate(background) != dark
    tab.keyboard.press("t")
    frame(tab)
    assert tab.evaluate(background) == dark
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_selector(f"html[data-theme={scheme}]")
    frame(tab)
    # drawn in the same breath: paper does not wait for the next frame
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert pixels(tab, ".channel canvas", *LIGHT_GRID) > 300
    assert pixels(tab, ".channel canvas", *DARK_GRID) == 0
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(background) == dark
    # texts in a chart are not squeezed by a narrow sheet: it is made smaller as a whole
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 700, "height": 900})
    ratio = "one => one.clientWidth / one.clientHeight / (one.width / one.height)"
    assert tab.locator(".channel canvas").first.evaluate(ratio) == pytest.approx(1, abs=0.02)
    assert not tab.locator("#next").is_visible()


def test_a_phone_reads_a_row_by_a_tap_and_zooms_by_two_fingers(opened: Opener, report: str) -> None:
    tab = opened(report, width=390)
    for width in (390, 320, 900):
        tab.set_viewport_size({"width": width, "height": 800})
        frame(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        scroll = tab.locator(".scroll").first
        assert scroll.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    # a tap reads out a row
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.locator(".channel canvas").first.tap(position={"x": 100, "y": 20})
    assert re.search(
        r"^\S+ · expected \S+, from \S+ to \S+$", tab.locator("#charts .read").first.inner_text()
    )


def test_a_long_series_is_drawn_coarse_from_afar_and_row_by_row_at_an_alarm(
    opened: Opener, named: SubAdjacentDetector, plant: Plant, monkeypatch: Any
) -> None:
    monkeypatch.setattr("subadjacent.report.payload.BUDGET", 60_000)
    found = named.assess(dated([*plant.test] * 20))
    alarm = found.alarms(again=0)[0]
    alarms = [replace(alarm, first=5_000, last=5_020)]
    tab = opened(page(named, found, title="Long", alarms=alarms))
    assert tab.locator("#segment").inner_text().endswith("every row")
    assert drawn(tab, 0, "roles") == ["expected", "seen"]
    tab.keyboard.press("Escape")
    frame(tab)
    assert tab.locator("#segment").inner_text().endswith("lowest and highest of every 20 rows")
    channel = CHANNELS.index(channels(tab)[0])
    seen, band = (np.array(drawn(tab, 0, name), dtype=float) for name in ("points", "band"))
    assert seen[1::2].max() == pytest.approx(plant.test[:, channel].max(), rel=1e-4)
    assert seen[1::2].min() == pytest.approx(plant.test[:, channel].min(), rel=1e-4)
    # the band holds what is expected of all rows; a line from the lowest to the highest of them
    # would hide the data
    usual = explainer_of(found).expected_range(channel)
    assert band[1::3].min() == pytest.approx(usual.low.min(), rel=1e-4)
    assert band[2::3].max() == pytest.approx(usual.high.max(), rel=1e-4)
    assert drawn(tab, 0, "roles") == ["seen"]


def test_many_rows_and_channels_cost_no_more_than_the_pixels_they_fall_on(
    opened: Opener,
) -> None:
    rows = np.random.default_rng(0).normal(size=(100_000, 20)).cumsum(axis=0)
    detector = MagnitudeDetector(smoothing=3).fit(rows[:2_000])
    text = page(detector, detector.assess(rows), title="Large")
    assert len(text) < 14_000_000
    tab = opened(text)
    while tab.locator("#add").is_enabled():
        free = tab.locator("#add option:not([disabled])").all_inner_texts()[-1]
        tab.locator("#add").select_option(label=free)
    points, frames, asked = tab.evaluate(
        """async () => {
          const {view, charts} = report, draw = charts.draw.bind(charts);
          const frame = act => requestAnimationFrame(act);
          const next = () => new Promise(done => frame(() => frame(done)));
          let frames = 0, asked = 0, most = 0;
          charts.draw = () => { frames++; draw(); };
          view.all();
          await next();
          for (let turn = 0; turn < 12; turn++) {
            // many moves of a mouse within one frame are drawn once
            for (let move = 0; move < 25; move++) { view.pan(move % 2 ? 0.01 : -0.01); asked++; }
            view.zoom(turn < 8 ? 0.6 : 1.4);
            await next();
            most = Math.max(most, ...charts.panels.map(one => one.chart.drawn));
          }
          return [most, frames, asked];
        }"""
    )
    width = tab.evaluate("report.charts.stack.clientWidth")
    # a line of at most three points a column of pixels, another one, and a band of one
    assert 500 < points <= 7 * width
    assert asked == 300
    assert frames <= 40
    # no more channels than places; one that is removed makes room
    assert len(channels(tab)) == MAX_CHANNELS
    tab.locator(".remove").first.click()
    assert len(channels(tab)) == MAX_CHANNELS - 1
    assert tab.locator("#add").is_enabled()


def test_a_single_quiet_row_without_a_time_is_shown(
    opened: Opener, detector: SubAdjacentDetector, plant: Plant
) -> None:
    for rows in (1, 5):
        tab = opened(page(detector, detector.assess(plant.train[:rows]), title="Short"))
        assert view(tab) == whole(tab)
        assert tab.locator("#previous").is_disabled()
        tab.keyboard.press("j")
        frame(tab)
        assert tab.locator("#segment").inner_text() == f"row 0 to row {rows - 1} · every row"
        assert tab.locator("#next").is_disabled()
        assert "marker" not in tab.locator("#whole").inner_text()


def test_no_line_crosses_a_gap_in_the_clock_or_missing_values(
    opened: Opener, named: SubAdjacentDetector, plant: Plant
) -> None:
    rows = dated(plant.test)
    found = named.assess(pd.concat([rows[:300], rows[500:]]))
    (series,) = found.series
    missing = np.zeros(series.values.shape, dtype=bool)
    missing[100:120] = True
    blank = replace(found, table=replace(found.table, series=(replace(series, missing=missing),)))
    tab = opened(page(named, blank, title=""))
    start = whole(tab)[0]
    tab.evaluate(f"report.view.show({start}, {start + 600 * ROW})")
    frame(tab)

    def numbers(name: str, parts: int) -> tuple[set[int], list[int]]:
        """Rows by the clock that are drawn, and those where the line breaks."""
        found = np.array(drawn(tab, 0, name), dtype=float).reshape(-1, parts)
        rows = np.rint((found[:, 0] - start) / ROW - 0.5).astype(int)
        return set(rows.tolist()), rows[np.isnan(found[:, 1])].tolist()

    shown, broken = numbers("points", 2)
    assert broken == [*range(100, 120), 500]
    assert not shown & set(range(300, 500))
    # nor does the expected range, which is there where values are missing
    assert numbers("band", 3)[1] == [500]


@pytest.mark.parametrize(
    ("detector", "matrices", "outlines"),
    [
        (AttentiveDetector(), 1, 1),
        pytest.param(AttentiveDetector(band=None), 1, 0, marks=pytest.mark.sweep),
        pytest.param(MagnitudeDetector(smoothing=3), 0, 0, marks=pytest.mark.sweep),
    ],
    ids=["band", "attention", "averaged"],
)
def test_a_detector_shows_what_it_has(
    opened: Opener, plant: Plant, detector: BaseDetector, matrices: int, outlines: int
) -> None:
    detector.fit(dated(plant.train))
    detector.threshold_ = float(np.quantile(detector.decision_scores_, 0.99))
    found = detector.assess(dated(plant.test))
    tab = opened(page(detector, found, title=""))
    counts = [
        tab.locator(part).count() for part in ("#detail [data-panel]", "#attention", "#band path")
    ]
    assert counts == [2, matrices, outlines]
    # the worst alarm is chosen, and what is drawn of it is the severity that made it one
    worst = max(found.alarms(), key=lambda one: one.severity)
    assert channels(tab)[0] == worst.causes[0].channel
    last = tab.locator("#charts canvas").count() - 1
    assert max(drawn(tab, last, "points")[1::2]) == pytest.approx(worst.severity, rel=1e-3)
    if matrices:
        assert pixels(tab, "#attention", 0, 114, 178) >= 20
        curve = tab.locator("#curves canvas").first
        curve.scroll_into_view_if_needed()
        curve.hover(position={"x": 60, "y": 40})
        frame(tab)
        assert tab.locator("#curves .read").all_inner_texts() == ["0.9000", "1.1000"]


def test_the_button_of_a_channel_leads_to_its_chart(
    opened: Opener, report: str, alarms: list[Alarm]
) -> None:
    number = int(np.argmax([len(named_causes(alarm.causes)) for alarm in alarms]))
    last = len(named_causes(alarms[number].causes)) - 1
    tab = opened(report, width=390)
    for key in (None, "Enter"):
        tab.keyboard.press("Escape")
        tab.evaluate("scrollTo(0, 0)")
        button = tab.locator(f"tr[data-alarm='{number}'] .cause").nth(last)
        if key is None:
            button.click()
        else:
            button.focus()
            tab.keyboard.press(key)
        frame(tab)
        assert chosen(tab) == str(number)
        name = tab.evaluate("document.activeElement.querySelector('.name').textContent")
        assert name == named_causes(alarms[number].causes)[last].channel
        top, bottom = tab.evaluate(
            "(({top, bottom}) => [top, bottom])(document.activeElement.getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= 900
    # from there the keys go on as before
    tab.keyboard.press("Escape")
    assert chosen(tab) is None


def test_channels_are_added_and_removed_by_keyboard_too(opened: Opener, report: str) -> None:
    tab = opened(report)
    tab.keyboard.press("Escape")
    for name in CHANNELS:
        if name not in channels(tab):
            tab.locator("#add").select_option(label=name)
            assert channels(tab)[-1] == name
    assert sorted(channels(tab)) == sorted(CHANNELS)
    # none is there twice
    assert tab.locator("#add option:not([disabled])").all_inner_texts() == ["choose…"]
    assert tab.locator("#add").input_value() == ""
    while len(channels(tab)) > 1:
        name = channels(tab)[0]
        tab.get_by_label(f"Remove {name}", exact=True).focus()
        tab.keyboard.press("Enter")
        assert name not in channels(tab)
        focused = "document.activeElement.querySelector('.name').textContent"
        assert tab.evaluate(focused) == channels(tab)[0]
    # one always stays
    assert tab.locator(".remove").is_disabled()
    last = CHANNELS.index(channels(tab)[0])
    assert tab.locator(f"#add option[value='{last}']").is_disabled()


def test_two_channels_that_decoupled_stand_below_each_other(
    opened: Opener, named: SubAdjacentDetector, assessed: Assessment, alarms: list[Alarm]
) -> None:
    cause = alarms[0].causes[0]
    other = next(name for name in CHANNELS if name != cause.channel)
    parted = replace(cause, kind="decoupled", partner=other, low=-3.0, high=-2.0)
    tab = opened(page(named, assessed, title="", alarms=[replace(alarms[0], causes=(parted,))]))
    assert channels(tab) == [cause.channel, other]
    told = tab.locator(".channel .told").all_inner_texts()
    assert told[1] == f"is what {cause.channel} normally goes with"
    # the range given the other channel is marked beside the value, and in sight
    ring = drawn(tab, 0, "ring")
    assert (ring["low"], ring["high"]) == (-3, -2)
    assert drawn(tab, 0, "limits")[0] <= -3
    assert drawn(tab, 1, "ring") is None


@pytest.fixture(scope="module")
def trips() -> tuple[SubAdjacentDetector, Assessment]:
    rows = taxi_trips()
    detector = SubAdjacentDetector().fit(rows[: len(rows) // 2])
    return detector, detector.assess(rows)


def test_the_mouse_reads_values_as_people_write_them(
    opened: Opener, trips: tuple[SubAdjacentDetector, Assessment]
) -> None:
    tab = opened(page(*trips, title="Trips"))
    # the busy night is marked where it was furthest from what was expected
    ring = drawn(tab, 0, "ring")
    assert 38_000 < ring["value"] < 40_000
    read = point(tab, ring["at"])
    # once the view has settled
    tab.wait_for_selector("canvas[data-points]")
    assert re.fullmatch(
        rf"{ring['value']:,.0f} · expected \d+,\d{{3}}, from \d+,\d{{3}} to \d+,\d{{3}}", read
    )
    # every chart is put into words for those who do not see it
    summary = tab.locator(".channel canvas").evaluate(
        "one => document.getElementById(one.getAttribute('aria-describedby'))"
        ".textContent + one.getAttribute('aria-label')"
    )
    assert re.fullmatch(
        r"trips, 2024-10-17 .*: lowest [\d,]+, highest 39,\d+, last [\d,]+; 1 alarm in view\."
        "Chart of trips",
        summary,
    )
    # linked: every chart is read at the same time, which is told
    assert tab.locator("#charts .read:visible").count() == tab.locator("#charts canvas").count()
    assert tab.locator("#pointed").inner_text().startswith("2024-10-")
    assert pixels(tab, ".channel canvas", 213, 94, 0) > 10
    tab.mouse.move(0, 0)
    frame(tab)
    assert tab.locator("#charts .read:visible").count() == 0
    # nothing to add, nothing to remove
    assert tab.locator("#add").count() == 0
    assert tab.locator(".remove").count() == 0


@pytest.mark.sweep
def test_rows_stand_below_each_other_however_long_their_numbers_are(
    opened: Opener, trips: tuple[SubAdjacentDetector, Assessment]
) -> None:
    detector, found = trips
    for scale, written in (
        (1e-8, r"3\.\d+e-4"),
        (1e6, r"39,\d{3},0{3},000 · "),
        (1e9, r"[\d.]+e\+13"),
    ):
        series = replace(found.series[0], values=found.series[0].values.astype(float) * scale)
        # all scale with the values but what is counted in rows or has no unit
        factors = np.full((len(found.profiles[0].table), 1), scale)
        for name in ("decimals", "cycle", "memory", "max_run", "partner", "slope"):
            factors[FIELDS.index(name)] = 1
        profiles = BaselineProfiles(factors * found.profiles[0].table)
        big = replace(found, table=replace(found.table, series=(series,)), profiles=(profiles,))
        tab = opened(page(detector, big, title=""))
        assert re.match(written, point(tab, drawn(tab, 0, "ring")["at"]))
        # all begin at the same pixel, to the right of the widest number
        left = tab.evaluate(
            "[report.overview, ...report.charts.panels].map(one => one.chart.box.left)"
        )
        assert len(set(left)) == 1
        assert left[0] > (30 if scale > 1 else 20)
