"""The page in a real browser, used as a person would."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from report.attentive import AttentiveDetector
from report.sample import CHANNELS, dated
from report.taxi import taxi_trips
from subadjacent import BaseDetector, MagnitudeDetector, SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.channels import SLOTS
from subadjacent.report.page import page
from subadjacent.report.panels import AXIS_HEIGHT, CHANNEL_HEIGHT, in_words
from subadjacent.scoring.alarms import Alarm
from subadjacent.scoring.causes import Explainer
from subadjacent.scoring.habits import Habit, Habits, Usual

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path")

RANGE = """name => {
  const range = Bokeh.documents[0].get_model_by_name(name);
  return [range.start, range.end];
}"""

# where an alarm's marker in the strip is, in pixels of the page
MARKER = """number => {
  const strip = Bokeh.documents[0].get_model_by_name("overview");
  const view = [...Bokeh.index].find(one => one.model === strip);
  const data = Bokeh.documents[0].get_model_by_name("all_bands").data;
  const box = view.el.getBoundingClientRect();
  return [box.x + view.frame.x_scale.compute(data.middle[number]),
          box.y + view.frame.y_scale.compute(data.top[number])];
}"""


# pixels of the first chart in the colour that grid lines have on a light or dark page
GRID_PIXELS = """((theme) => {
  const drawn = Bokeh.index.roots[0].canvas_view.primary.canvas;
  const copy = new OffscreenCanvas(drawn.width, drawn.height);
  const paper = copy.getContext("2d", {willReadFrequently: true});
  paper.drawImage(drawn, 0, 0);
  const {data} = paper.getImageData(0, 0, copy.width, copy.height);
  const wanted = {light: [232, 235, 240], dark: [35, 42, 51]}[theme];
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255 && wanted.every((value, part) => data[at + part] === value)) count++;
  return count;
})"""

MODEL = "Bokeh.documents[0].get_model_by_name"

# where a place in time is in the middle of a figure, in pixels of the window
PLACE = """([name, place]) => {
  const view = [...Bokeh.index].find(one => one.model.name === name);
  const box = view.el.getBoundingClientRect();
  return [box.x + view.frame.x_scale.compute(place), box.y + box.height / 2];
}"""

# pixels of the first chart in the colour of what is usual, a quarter opaque, on a light page
USUAL_PIXELS = """(() => {
  const drawn = Bokeh.index.roots[0].canvas_view.primary.canvas;
  const copy = new OffscreenCanvas(drawn.width, drawn.height);
  const paper = copy.getContext("2d", {willReadFrequently: true});
  paper.drawImage(drawn, 0, 0);
  const {data} = paper.getImageData(0, 0, copy.width, copy.height);
  const near = (one, other) => Math.abs(one - other) <= 3;
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    if ([107, 127, 153, 64].every((value, part) => near(data[at + part], value))) count++;
  return count;
})()"""


@pytest.fixture(scope="module")
def report(
    named: SubAdjacentDetector,
    assessed: Assessment,
    alarms: list[Alarm],
    plant: Plant,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    text = page(named, assessed, title="Plant", labels=plant.labels, alarms=alarms)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report_of_two(
    named: SubAdjacentDetector, plant: Plant, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("report") / "two.html"
    parts = {"north": dated(plant.test[:600]), "south": dated(plant.test[600:], "2026-05-01")}
    found = named.assess(parts)
    text = page(named, found, title="Two", alarms=found.alarms(again=0))
    path.write_text(text, encoding="utf-8")
    return path


class Opener:
    """Opens pages, and writes down every error, warning and request that leaves the file."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.complaints: list[str] = []

    def __call__(self, path: Path, *, width: int = 1280, scheme: Any = "light") -> Page:
        tab = self.browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", self.said)
        tab.on("request", self.asked)
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return tab

    def said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def asked(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(request.url)


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Opens pages for one test, which fails when any of them complained."""
    opener = Opener(browser)
    before = [*browser.contexts]
    yield opener
    for context in browser.contexts:
        if context not in before:
            context.close()
    assert opener.complaints == []


@pytest.fixture(scope="module")
def shared(browser: Browser, report: Path) -> tuple[Page, Opener]:
    opener = Opener(browser)
    return opener(report), opener


@pytest.fixture
def tab(shared: tuple[Page, Opener]) -> Iterator[Page]:
    """The report, opened once and zoomed out; most tests need no page of their own."""
    page, opener = shared
    page.keyboard.press("Escape")
    yield page
    assert opener.complaints == []


def frame(tab: Page) -> None:
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def channels(tab: Page) -> list[str]:
    """Names of the channels that are drawn, from the top."""
    return tab.locator("figure.channel:visible .name").all_inner_texts()


def usual_of(found: Assessment, channel: int) -> Usual:
    parts = found.series, found.evidence, found.habits, found.judgements
    series, evidence, habits, judgement = (part[0] for part in parts)
    return Explainer.of(series, evidence, habits, judgement.anomalous).usual(channel)


def test_every_alarm_is_in_the_table_and_the_worst_is_chosen(
    opened: Opener, report: Path, alarms: list[Alarm]
) -> None:
    tab = opened(report)
    rows = tab.locator("#alarm-table tbody tr")
    assert rows.count() == len(alarms) > 2
    severities = [alarm.severity for alarm in alarms]
    chosen = tab.locator("tr[aria-current]")
    assert chosen.get_attribute("data-alarm") == str(severities.index(max(severities)))
    first = alarms[0].causes[0]
    assert rows.first.locator(".cause").first.inner_text() == f"{first.channel} {first.kind}"
    for number, alarm in enumerate(alarms):
        cell = rows.nth(number).locator(".causes")
        assert cell.locator("> *").first.inner_text() == alarm.sentence


def test_a_click_on_an_alarm_zooms_there_and_shows_its_channel(
    tab: Page, alarms: list[Alarm]
) -> None:
    for number, alarm in enumerate(alarms[:3]):
        tab.locator(f"tr[data-alarm='{number}'] td").first.click()
        start, end = tab.evaluate(RANGE, "detail")
        assert start <= alarm.start.timestamp() * 1000 <= alarm.end.timestamp() * 1000 <= end
        # a hundred rows of five minutes to either side
        assert end - start <= (2 * max(100, alarm.duration) + alarm.duration) * 300_000
        assert channels(tab)[0] == alarm.causes[0].channel
        title = tab.locator("#detail-title").inner_text()
        assert title == f"Alarm {number + 1} of {len(alarms)}: {alarm.sentence}"
        # the panel of the view that raised it says so
        raised = tab.locator(
            "figure", has=tab.get_by_text("raised this alarm").locator("visible=true")
        )
        assert alarm.view is not None
        title = in_words(alarm.view)
        assert raised.locator("b").all_inner_texts() == [title[0].upper() + title[1:]]
    tab.keyboard.press("Escape")
    frame(tab)
    assert tab.get_by_text("raised this alarm").locator("visible=true").count() == 0


def test_a_click_on_a_marker_in_the_strip_zooms_there(tab: Page) -> None:
    x, y = tab.evaluate(MARKER, 0)
    tab.mouse.click(x, y)
    frame(tab)
    assert tab.locator("tr[aria-current]").get_attribute("data-alarm") == "0"
    assert tab.evaluate(RANGE, "detail") != tab.evaluate(RANGE, "whole")


def test_every_time_that_an_alarm_was_there_is_shaded_and_leads_to_it(
    opened: Opener,
    named: SubAdjacentDetector,
    assessed: Assessment,
    alarms: list[Alarm],
    tmp_path: Path,
) -> None:
    alarms = [replace(alarm, permanent=False) for alarm in alarms]
    again = replace(alarms[0], first=100, last=700, occurrences=((100, 149), (600, 700)))
    other = replace(alarms[1], first=300, last=304, occurrences=((300, 304),), severity=0.5)
    path = tmp_path / "again.html"
    path.write_text(page(named, assessed, title="", alarms=[again, other]), encoding="utf-8")
    tab = opened(path)
    minutes = "name => { const {left, right, strength} = Bokeh.documents[0].get_model_by_name(name)"
    minutes += ".data; const start = Bokeh.documents[0].get_model_by_name('whole').start; return "
    minutes += (
        "left.map((one, i) => [(one - start) / 6e4, (right[i] - start) / 6e4, strength[i]]);}"
    )
    rows = [(100, 150), (600, 701), (300, 305)]

    def shaded(name: str, chosen: int) -> None:
        frame(tab)
        found = tab.evaluate(minutes, name)
        assert [(left, right) for left, right, _ in found] == [
            pytest.approx((5 * first, 5 * last)) for first, last in rows
        ]
        # the bands of the chosen alarm stand out among the others
        strengths = [strength for *_, strength in found]
        strong, weak = 0.22, 0.1
        numbers = (0, 0, 1)
        assert strengths == [strong if number == chosen else weak for number in numbers]

    for name in ("bands", "all_bands"):
        shaded(name, chosen=0)
    # all of it is in view: a hundred rows more, or as many as the longest time, to either side
    start, end = tab.evaluate(RANGE, "detail")
    whole = tab.evaluate(RANGE, "whole")
    margin = 101 * 300_000
    assert start == pytest.approx(max(whole[0] + 100.5 * 300_000 - margin, whole[0]))
    assert end == pytest.approx(whole[0] + 700.5 * 300_000 + margin)
    tab.keyboard.press("j")
    shaded("all_bands", chosen=1)
    # a marker leads to its alarm, whichever of its times it is of
    tab.mouse.click(*tab.evaluate(MARKER, 1))
    frame(tab)
    assert tab.locator("tr[aria-current]").get_attribute("data-alarm") == "0"
    shaded("all_bands", chosen=0)
    tab.keyboard.press("Escape")
    shaded("all_bands", chosen=-1)
    shaded("bands", chosen=-1)
    assert tab.locator("#alarm-table .tag").all_inner_texts() == ["2 times"]


def test_the_threshold_is_drawn_where_the_severity_is_one(tab: Page) -> None:
    lines = tab.evaluate("""["overview", "severity"].map(name => {
      const chart = Bokeh.documents[0].get_model_by_name(name);
      return [chart.center.filter(one => one.tags?.[0]?.role === "threshold")[0].location,
              chart.y_range.start <= 0 && chart.y_range.end >= 1];
    })""")
    assert lines == [[1, True], [1, True]]


def test_keys_go_from_alarm_to_alarm_and_escape_shows_all(tab: Page) -> None:
    count = tab.locator("#alarm-table tbody tr").count()
    chosen = tab.locator("tr[aria-current]")
    at = -1
    for key, by in (("j", 1), ("ArrowRight", 1), ("k", -1), ("ArrowLeft", -1), ("k", -1)):
        tab.keyboard.press(key)
        at = (at + by) % count
        assert chosen.get_attribute("data-alarm") == str(at)
    tab.keyboard.press("Escape")
    assert tab.evaluate(RANGE, "detail") == tab.evaluate(RANGE, "whole")
    assert chosen.count() == 0
    tab.keyboard.press("+")
    start, end = tab.evaluate(RANGE, "detail")
    whole = tab.evaluate(RANGE, "whole")
    assert end - start == pytest.approx((whole[1] - whole[0]) / 2)


def test_the_table_is_worked_by_keyboard_alone(tab: Page) -> None:
    tab.locator("tr[data-alarm='0']").focus()
    tab.keyboard.press("Enter")
    assert tab.locator("tr[aria-current]").get_attribute("data-alarm") == "0"
    tab.keyboard.press("ArrowDown")
    assert tab.locator("tr[aria-current]").get_attribute("data-alarm") == "1"
    assert tab.evaluate("document.activeElement.dataset.alarm") == "1"


def test_the_table_sorts(tab: Page) -> None:
    severity = tab.locator("th", has_text="Severity")
    keys = "rows => rows.map(row => Number(row.dataset.severity))"
    for order, reverse in (("descending", True), ("ascending", False)):
        severity.locator("button").click()
        found = tab.locator("#alarm-table tbody tr").evaluate_all(keys)
        assert found == sorted(found, reverse=reverse)
        assert severity.get_attribute("aria-sort") == order
    when = tab.locator("th", has_text="When")
    assert when.get_attribute("aria-sort") == "none"
    when.locator("button").click()
    found = tab.locator("#alarm-table tbody tr").evaluate_all(
        "rows => rows.map(row => row.dataset.alarm)"
    )
    assert found == [str(number) for number in range(len(found))]


def test_another_channel_can_be_added_and_its_values_are_right(tab: Page, plant: Plant) -> None:
    before = channels(tab)
    if CHANNELS[3] in before:
        tab.get_by_label(f"Remove {CHANNELS[3]}").click()
        before.remove(CHANNELS[3])
    tab.locator("#add").select_option(label=CHANNELS[3])
    frame(tab)
    assert channels(tab) == [*before, CHANNELS[3]]
    slot = len(before)
    seen = tab.evaluate(f"Array.from({MODEL}('channel_{slot}_lines').data.seen)")
    values = plant.test[:, 3]
    assert seen == pytest.approx(values.tolist(), abs=1e-4 * (values.max() - values.min()))


def test_dark_follows_the_system_and_the_button(opened: Opener, report: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    axis = "Bokeh.documents[0].get_model_by_name('channel_0').left[0].major_label_text_color"
    tab = opened(report, scheme="dark")
    dark = tab.evaluate(background), tab.evaluate(axis)
    tab.locator("#theme").click()
    light = tab.evaluate(background), tab.evaluate(axis)
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    tab.locator("#theme").click()
    assert (tab.evaluate(background), tab.evaluate(axis)) == dark


def test_paper_is_light_whatever_the_screen(opened: Opener, report: Path) -> None:
    tab = opened(report, scheme="dark")
    theme = "document.documentElement.dataset.theme"
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(theme) == "light"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(theme) == "dark"


def test_grid_lines_are_light_on_paper_before_the_next_frame(opened: Opener, report: Path) -> None:
    tab = opened(report, scheme="dark")
    tab.wait_for_function(f"{GRID_PIXELS}('dark') > 1000")
    assert tab.evaluate(f"{GRID_PIXELS}('light')") == 0
    # counted in the same breath, as paper would have it
    printed = f"(dispatchEvent(new Event('beforeprint')), {GRID_PIXELS}('light'))"
    assert tab.evaluate(printed) > 1000
    assert tab.evaluate(f"{GRID_PIXELS}('dark')") == 0


def test_narrow_screens_need_no_sideways_scrolling(opened: Opener, report: Path) -> None:
    tab = opened(report, width=390)
    for width in (390, 320, 900):
        tab.set_viewport_size({"width": width, "height": 800})
        frame(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        scroll = tab.locator(".scroll").first
        assert scroll.evaluate("one => one.scrollWidth - one.clientWidth") == 0


def test_labels_are_shaded(tab: Page, plant: Plant) -> None:
    frame(tab)
    for name in ("all_labels", "labels"):
        shaded = tab.evaluate(f"Bokeh.documents[0].get_model_by_name('{name}').data.left.length")
        assert shaded == len(plant.events)


def test_the_part_fitted_on_is_shaded_and_said(
    opened: Opener,
    named: SubAdjacentDetector,
    assessed: Assessment,
    alarms: list[Alarm],
    plant: Plant,
    tmp_path: Path,
) -> None:
    first = min(alarm.first for alarm in alarms)
    fitted = [row <= first for row in range(len(plant.test))]
    path = tmp_path / "fitted.html"
    text = page(named, assessed, title="", alarms=alarms, fitted=fitted)
    path.write_text(text, encoding="utf-8")
    tab = opened(path)
    # others may say what changed for good
    tag = tab.locator(".tag", has_text="in training part")
    assert tag.count() == 1
    assert tab.locator("tr", has=tag).get_attribute("data-alarm") == "0"
    assert "fitted on this part" in tab.locator("#overview .legend").inner_text()
    tab.keyboard.press("Escape")
    frame(tab)
    edges = "name => { const {left, right} = Bokeh.documents[0].get_model_by_name(name).data; "
    edges += "return [left[0], right[0]]; }"
    whole = tab.evaluate(RANGE, "whole")
    for name in ("all_fitted", "fitted"):
        left, right = tab.evaluate(edges, name)
        assert left == whole[0]
        assert right == pytest.approx(whole[0] + (first + 1) * 5 * 60_000)
    assert tab.locator("#segment").inner_text().endswith("partly fitted on")
    tab.evaluate(
        "() => { const [detail, {start}] = ['detail', 'whole'].map("
        "name => Bokeh.documents[0].get_model_by_name(name)); "
        "detail.setv({start, end: start + 6e5}); }"
    )
    frame(tab)
    assert tab.locator("#segment").inner_text().endswith("fitted on this part")


def test_a_select_switches_between_entities(opened: Opener, report_of_two: Path) -> None:
    tab = opened(report_of_two)
    ranges = {}
    for entity in ("north", "south", "north"):
        tab.locator("#entity").select_option(label=entity)
        frame(tab)
        ranges[entity] = tab.evaluate(RANGE, "whole")
        # zoomed to the worst of that entity's alarms
        start, end = tab.evaluate(RANGE, "detail")
        assert ranges[entity][0] <= start < end <= ranges[entity][1]
        assert end - start < 0.8 * (ranges[entity][1] - ranges[entity][0])
        own = tab.locator("#alarm-table tbody tr", has_text=entity)
        severities = own.evaluate_all("rows => rows.map(row => Number(row.dataset.severity))")
        chosen = tab.locator("tr[aria-current]")
        assert entity in chosen.inner_text()
        assert float(chosen.get_attribute("data-severity") or 0) == max(severities)
    assert ranges["north"][1] < ranges["south"][0]
    # an alarm brings its entity with it
    tab.locator("tr", has_text="north").first.click()
    assert tab.locator("#entity").evaluate("one => one.selectedOptions[0].text") == "north"
    assert tab.evaluate(RANGE, "whole") == ranges["north"]


def test_a_long_series_is_drawn_coarse_from_afar_and_row_by_row_at_an_alarm(
    opened: Opener, named: SubAdjacentDetector, plant: Plant, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr("subadjacent.report.payload.BUDGET", 60_000)
    path = tmp_path / "long.html"
    long = dated([*plant.test] * 20)
    found = named.assess(long)
    text = page(named, found, title="Long", alarms=found.alarms(again=0))
    path.write_text(text, encoding="utf-8")
    tab = opened(path)
    assert tab.locator("#segment").inner_text().endswith("every row")
    visible = f"{MODEL}('channel_0_expected').visible"
    assert tab.evaluate(visible)
    tab.keyboard.press("Escape")
    frame(tab)
    assert tab.locator("#segment").inner_text().endswith("lowest and highest of every 20 rows")
    channel = CHANNELS.index(channels(tab)[0])
    drawn = tab.evaluate(f"{MODEL}('channel_0_lines').data")
    data = {key: np.array(drawn[key]) for key in ("seen", "expected", "low", "high")}
    assert data["seen"].max() == pytest.approx(plant.test[:, channel].max(), rel=1e-4)
    # what is usual is as far as it reaches in those rows, the same for both of them
    usual = usual_of(found, channel)
    assert data["low"].min() == pytest.approx(usual.low.min(), rel=1e-4)
    assert data["high"].max() == pytest.approx(usual.high.max(), rel=1e-4)
    for edge in ("low", "high"):
        np.testing.assert_array_equal(data[edge][::2], data[edge][1::2])
    wide = usual.high[0] - usual.low[0]
    np.testing.assert_allclose(
        data["high"] - data["low"],
        wide + np.repeat(np.abs(np.diff(data["expected"].reshape(-1, 2)))[:, 0], 2),
        rtol=1e-4,
    )
    # among so many points there are no edges
    assert tab.evaluate(f"{MODEL}('channel_0_edges').data.x") == []
    # a line from the lowest to the highest would hide the data
    assert not tab.evaluate(visible)


@pytest.mark.parametrize("rows", [1, 5])
def test_a_few_quiet_rows_without_times_are_shown(
    opened: Opener, detector: SubAdjacentDetector, plant: Plant, tmp_path: Path, rows: int
) -> None:
    path = tmp_path / "short.html"
    found = detector.assess(plant.train[:rows])
    path.write_text(page(detector, found, title="Short"), encoding="utf-8")
    tab = opened(path)
    tab.keyboard.press("j")
    frame(tab)
    assert tab.locator("#segment").inner_text() == f"row 0 to row {rows - 1} · every row"


def test_no_line_crosses_a_gap_in_the_clock(
    opened: Opener, named: SubAdjacentDetector, plant: Plant, tmp_path: Path
) -> None:
    path = tmp_path / "gap.html"
    whole = dated(plant.test)
    found = named.assess(pd.concat([whole[:300], whole[500:]]))
    path.write_text(page(named, found, title=""), encoding="utf-8")
    tab = opened(path)
    tab.keyboard.press("Escape")
    frame(tab)
    drawn = tab.evaluate(f"Array.from({MODEL}('channel_0_lines').data.seen, String)")
    assert drawn.index("NaN") == 300
    assert drawn.count("NaN") == 1
    # the edges of what is usual are lines of the same rows
    edges = tab.evaluate(
        f"""(drawn => drawn.filter(one => one.glyph.tags[0]?.role === "usual")
          .map(one => [one.glyph.type, one.glyph.y?.field, one.data_source.name])
        )({MODEL}('channel_0').renderers)"""
    )
    assert edges == [
        ["VArea", None, "channel_0_usual"],
        ["Line", "low", "channel_0_edges"],
        ["Line", "high", "channel_0_edges"],
    ]
    for edge in ("low", "high"):
        drawn = tab.evaluate(f"Array.from({MODEL}('channel_0_edges').data.{edge}, String)")
        assert [row for row, value in enumerate(drawn) if value == "NaN"] == [300]
    # nor does what is usual: it has no height there
    area = tab.evaluate(f"{MODEL}('channel_0_usual').data")
    height = np.array(area["high"]) - np.array(area["low"])
    assert len(height) == 802
    assert np.flatnonzero(height == 0).tolist() == [300, 301]
    assert area["x"][300:302] == [area["x"][299], area["x"][302]]


@pytest.mark.parametrize(
    ("detector", "rows", "matrices", "outlines"),
    [
        (AttentiveDetector(), 2, 1, 1),
        (AttentiveDetector(band=None), 2, 1, 0),
        (MagnitudeDetector(), 1, 0, 0),
        (MagnitudeDetector(smoothing=3), 2, 0, 0),
        (SubAdjacentDetector(), 9, 0, 0),
    ],
    ids=["band", "attention", "magnitude", "averaged", "default"],
)
def test_a_detector_shows_what_it_has(
    opened: Opener,
    plant: Plant,
    tmp_path: Path,
    detector: BaseDetector,
    rows: int,
    matrices: int,
    outlines: int,
) -> None:
    detector.fit(dated(plant.train))
    detector.threshold_ = float(np.quantile(detector.decision_scores_, 0.99))
    found = detector.assess(dated(plant.test))
    path = tmp_path / "page.html"
    path.write_text(page(detector, found, title=""), encoding="utf-8")
    tab = opened(path)
    frame(tab)
    assert tab.locator("#detail [data-panel]").count() == rows
    assert tab.locator("#attention").count() == matrices
    assert tab.locator("#band path").count() == outlines
    # the worst alarm is chosen, and what is drawn of it is the severity that made it one
    worst = max(found.alarms(), key=lambda one: one.severity)
    assert channels(tab)[0] == worst.causes[0].channel
    assert tab.locator("tr[aria-current]").count() == 1
    drawn = tab.evaluate("[...Bokeh.documents[0].get_model_by_name('lines').data.severity]")
    assert max(drawn) == pytest.approx(worst.severity, rel=1e-3)


def test_without_alarms_there_are_none_to_step_through(
    opened: Opener, named: SubAdjacentDetector, plant: Plant, tmp_path: Path
) -> None:
    quiet = copy(named)
    quiet.threshold_ = 1e9
    path = tmp_path / "page.html"
    path.write_text(page(quiet, quiet.assess(dated(plant.test)), title=""), encoding="utf-8")
    tab = opened(path)
    assert tab.locator("#next").is_disabled()
    assert tab.locator("#previous").is_disabled()
    assert "marker" not in tab.locator("#overview").inner_text()


def test_what_is_usual_is_drawn_behind_the_data(
    tab: Page, assessed: Assessment, alarms: list[Alarm]
) -> None:
    tab.keyboard.press("j")
    tab.keyboard.press("Escape")
    frame(tab)
    channel = CHANNELS.index(alarms[0].causes[0].channel)
    usual = usual_of(assessed, channel)
    drawn = tab.evaluate(f"{MODEL}('channel_0_lines').data")
    area = tab.evaluate(f"{MODEL}('channel_0_usual').data")
    near = {"rtol": 0, "atol": 1e-4 * float(np.ptp(usual.expected))}
    for name, edge in (("low", usual.low), ("high", usual.high)):
        np.testing.assert_allclose(drawn[name], edge, **near)
        np.testing.assert_allclose(area[name], edge, **near)
    np.testing.assert_allclose(drawn["expected"], usual.expected, **near)
    # the axis has room for it
    start, end = tab.evaluate(f"(one => [one.start, one.end])({MODEL}('channel_0').y_range)")
    assert start < usual.low.min()
    assert end > usual.high.max()
    # and it is painted: a quarter opaque, in its colour
    assert tab.evaluate(USUAL_PIXELS) > 1_000


def test_channels_of_an_alarm_stand_under_each_other(tab: Page, alarms: list[Alarm]) -> None:
    stacked = [len(alarm.spoken_of) for alarm in alarms]
    assert max(stacked) > 1
    number = int(np.argmax(stacked))
    tab.locator(f"tr[data-alarm='{number}'] td").first.click()
    frame(tab)
    causes = alarms[number].spoken_of
    figures = tab.locator("figure.channel:visible")
    for place, cause in enumerate(causes):
        # the name as it is, and what the channel did
        assert figures.nth(place).locator(".words").inner_text() == cause.sentence
        (ring,) = tab.evaluate(f"{MODEL}('channel_{place}_most').data.seen")
        assert ring == cause.seen
        at = tab.evaluate(f"{MODEL}('channel_{place}_most').data.x[0]")
        assert at == pytest.approx(cause.at.timestamp() * 1000)
    boxes = [figures.nth(place).bounding_box() for place in range(figures.count())]
    tops = [box["y"] for box in boxes if box]
    assert tops == sorted(tops)
    # one time for all, which stands below the last; and an axis of values for each
    ranges, axes, marks = tab.evaluate(
        """count => {
      const model = name => Bokeh.documents[0].get_model_by_name(name);
      const plots = Array.from({length: count}, (_, slot) => model(`channel_${slot}`));
      const alarms = drawn => drawn.data_source === model("bands");
      const shades = plots.map(one => one.renderers.some(alarms));
      return [plots.every(one => one.x_range === model("detail")),
              plots.map(one => one.below[0].visible), shades];
    }""",
        figures.count(),
    )
    assert ranges
    assert axes == [False] * (figures.count() - 1) + [True]
    heights = [tab.evaluate(f"{MODEL}('channel_{slot}').height") for slot in range(figures.count())]
    assert heights == [CHANNEL_HEIGHT] * (figures.count() - 1) + [CHANNEL_HEIGHT + AXIS_HEIGHT]
    assert all(marks)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_the_button_of_a_channel_leads_to_its_chart(
    opened: Opener, report: Path, alarms: list[Alarm], by: str
) -> None:
    number = int(np.argmax([len(alarm.spoken_of) for alarm in alarms]))
    last = len(alarms[number].spoken_of) - 1
    tab = opened(report, width=390)
    tab.emulate_media(reduced_motion="reduce")
    button = tab.locator(f"tr[data-alarm='{number}'] .cause").nth(last)
    if by == "mouse":
        button.click()
    else:
        button.focus()
        tab.keyboard.press("Enter")
    frame(tab)
    assert tab.locator("tr[aria-current]").get_attribute("data-alarm") == str(number)
    focused = "document.activeElement"
    assert tab.evaluate(f"{focused}.dataset.slot") == str(last)
    name = tab.evaluate(f"{focused}.querySelector('.name').textContent")
    assert name == alarms[number].spoken_of[last].channel
    top, bottom = tab.evaluate(
        f"(({{top, bottom}}) => [top, bottom])({focused}.getBoundingClientRect())"
    )
    assert 0 <= top < bottom <= 900
    # from there the keys go on as before
    tab.keyboard.press("Escape")
    assert tab.locator("tr[aria-current]").count() == 0


def test_channels_are_added_and_removed_by_keyboard_too(opened: Opener, report: Path) -> None:
    tab = opened(report)
    tab.keyboard.press("Escape")
    for name in CHANNELS:
        if name not in channels(tab):
            tab.locator("#add").select_option(label=name)
    assert sorted(channels(tab)) == sorted(CHANNELS)
    # none is there twice
    assert tab.locator("#add option:not([disabled])").all_inner_texts() == ["choose…"]
    assert tab.locator("#add").input_value() == ""
    while len(channels(tab)) > 1:
        name = channels(tab)[0]
        tab.get_by_label(f"Remove {name}", exact=True).focus()
        tab.keyboard.press("Enter")
        assert name not in channels(tab)
        assert tab.evaluate("document.activeElement.dataset.slot") == "0"
    # one always stays
    assert tab.locator(".remove:visible").is_disabled()
    frame(tab)
    last = CHANNELS.index(channels(tab)[0])
    option = tab.locator(f"#add option[value='{last}']")
    assert option.is_disabled()


def test_what_is_missing_is_blank_and_what_two_parted_by_is_marked(
    opened: Opener,
    named: SubAdjacentDetector,
    assessed: Assessment,
    alarms: list[Alarm],
    tmp_path: Path,
) -> None:
    (series,), cause = assessed.series, alarms[0].causes[0]
    number = series.channels.index(cause.channel)
    other = next(name for name in CHANNELS if name != cause.channel)
    missing = np.zeros(series.values.shape, dtype=bool)
    missing[100:120, number] = missing[800:, number] = True
    table = replace(assessed.table, series=(replace(series, missing=missing),))
    parted = replace(cause, kind="parted from another channel", partner=other, low=-3.0, high=-2.0)
    alarm = replace(alarms[0], causes=(parted,))
    path = tmp_path / "parted.html"
    text = page(named, replace(assessed, table=table), title="", alarms=[alarm])
    path.write_text(text, encoding="utf-8")
    tab = opened(path)
    # the channel that it parted from stands below it, and what is usual beside that is marked
    assert channels(tab) == [cause.channel, other]
    told = tab.locator("figure.channel:visible .told").all_inner_texts()
    assert told[1] == f"is what {cause.channel} usually goes with"
    beside = tab.evaluate(f"(({{low, high}}) => [low, high])({MODEL}('channel_0_most').data)")
    assert beside == [[-3], [-2]]
    assert tab.evaluate(f"{MODEL}('channel_1_most').data.low") == []
    tab.keyboard.press("Escape")
    frame(tab)
    drawn = tab.evaluate(f"Array.from({MODEL}('channel_0_lines').data.seen, String)")
    blank = [row for row, value in enumerate(drawn) if value == "NaN"]
    assert blank == [*range(100, 120), *range(800, 1_000)]
    # with no alarm chosen nothing is marked
    assert tab.evaluate(f"{MODEL}('channel_0_most').data.x") == []
    assert "".join(tab.locator("figure.channel:visible .told").all_inner_texts()) == ""


def test_no_more_channels_are_added_than_there_are_places(opened: Opener, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(300, SLOTS + 2))
    detector = MagnitudeDetector().fit(rows)
    path = tmp_path / "wide.html"
    path.write_text(page(detector, detector.assess(rows), title=""), encoding="utf-8")
    tab = opened(path)
    while tab.locator("#add").is_enabled():
        free = tab.locator("#add option:not([disabled])").all_inner_texts()[-1]
        tab.locator("#add").select_option(label=free)
        assert channels(tab)[-1] == free
    assert len(channels(tab)) == SLOTS
    tab.locator(".remove:visible").first.click()
    assert len(channels(tab)) == SLOTS - 1
    assert tab.locator("#add").is_enabled()


@pytest.fixture(scope="module")
def trips() -> tuple[SubAdjacentDetector, Assessment]:
    rows = taxi_trips()
    detector = SubAdjacentDetector().fit(rows[: len(rows) // 2])
    return detector, detector.assess(rows)


def ticks(name: str) -> str:
    """The numbers along the axis of a figure, as they are drawn."""
    return f"""(({{left: [axis], y_range: {{start, end}}}}) =>
      axis.formatter.doFormat(axis.ticker.get_ticks(start, end, null, NaN).major)
    )({MODEL}('{name}'))"""


def test_numbers_are_written_as_people_do(
    opened: Opener, trips: tuple[SubAdjacentDetector, Assessment], tmp_path: Path
) -> None:
    detector, found = trips
    path = tmp_path / "trips.html"
    path.write_text(page(detector, found, title="Trips"), encoding="utf-8")
    tab = opened(path)
    frame(tab)
    drawn = tab.evaluate(ticks("channel_0"))
    assert "20,000" in drawn
    assert "40,000" in drawn
    # the busy night is marked where it was furthest from what was expected
    (seen,) = tab.evaluate(f"{MODEL}('channel_0_most').data.seen")
    assert 38_000 < seen < 40_000
    (at,) = tab.evaluate(f"{MODEL}('channel_0_most').data.x")
    tab.locator("[data-slot='0']").scroll_into_view_if_needed()
    tab.mouse.move(*tab.evaluate(PLACE, ["channel_0", at]))
    told = tab.get_by_text("usually", exact=True).locator("..").inner_text()
    assert f"{seen:,.0f}" in told
    assert re.search(r"usually\s*\d+,\d{3} to \d+,\d{3}", told)
    # nothing to add, nothing to remove
    assert tab.locator("#add").count() == 0
    assert tab.locator(".remove").count() == 0


@pytest.mark.parametrize(
    ("scale", "written"),
    [(1e-3, r"\d\d"), (1e-8, r"0\.000\d"), (1e6, r"\d\d,000,000,000"), (1e9, r"\de\+13")],
)
def test_rows_stand_below_each_other_however_long_their_numbers_are(
    opened: Opener,
    trips: tuple[SubAdjacentDetector, Assessment],
    tmp_path: Path,
    scale: float,
    written: str,
) -> None:
    detector, found = trips
    series = replace(found.series[0], values=found.series[0].values.astype(float) * scale)
    # the columns after the first scale with the values; what is counted in rows does not
    scaled = np.array(
        [name not in ("cycle", "still", "partner", "slope") for name in Habit._fields]
    )
    habits = Habits(np.where(scaled[:, None], scale, 1) * found.habits[0].table)
    table = replace(found.table, series=(series,))
    path = tmp_path / "scaled.html"
    big = replace(found, table=table, habits=(habits,))
    path.write_text(page(detector, big, title=""), encoding="utf-8")
    tab = opened(path)
    tab.keyboard.press("Escape")
    frame(tab)
    assert re.fullmatch(written, tab.evaluate(ticks("channel_0"))[-1])
    frame(tab)
    left = tab.evaluate(
        """[...Bokeh.index].filter(one => one.model.name && one.frame && one.el.offsetParent)
           .map(one => one.el.getBoundingClientRect().x + one.frame.bbox.left)"""
    )
    assert len(left) > 5
    assert len(set(left)) == 1
