"""The page's text: it needs nothing from outside, and says what was found."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from report.sample import dated
from subadjacent import InputError, SubAdjacentDetector
from subadjacent.data.inputs import read
from subadjacent.data.plant import Plant
from subadjacent.data.series import TrainSeries
from subadjacent.report import story
from subadjacent.report.findings import find
from subadjacent.report.marks import MOST_LISTED, listed, marked_stretches
from subadjacent.report.page import page
from subadjacent.report.timeline import timelines


def own(text: str) -> str:
    """The page without Bokeh's script and our data."""
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_nothing_is_fetched_from_anywhere(named: SubAdjacentDetector, plant: Plant) -> None:
    text = page(named, dated(plant.test), title="Plant")
    assert not re.search(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=""", text)
    assert not re.search(r"https?:|url\(|@import", own(text))
    assert "default-src 'none'" in text


def test_the_headline_says_how_many_where_and_when(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    X = dated(plant.test)
    alarms = named.alarms(X)
    worst = max(alarms, key=lambda alarm: alarm.severity)
    heading = re.search("<h1>(.*)</h1>", page(named, X, title="Plant"))
    assert heading is not None
    assert heading[1] == (
        f"{len(alarms)} alarms in 1,000 rows; the worst on {worst.start:%Y-%m-%d %H:%M} "
        f"in channel {worst.causes[0].channel}"
    )


def test_one_alarm_and_none_are_told_as_such(named: SubAdjacentDetector, plant: Plant) -> None:
    X = dated(plant.test)
    series = read(X).series
    alarm = named.alarms(X)[:1]
    (row,) = listed(alarm, series, timelines(series))
    assert story.headline(1, 1_000, 1, row).startswith("1 alarm in 1,000 rows; it came on 2026-01")
    assert story.headline(0, 1_000, 2, None) == "No alarms in 1,000 rows of 2 entities"


def test_names_are_text_and_never_markup(named: SubAdjacentDetector, plant: Plant) -> None:
    text = page(named, dated(plant.test), title="</script><i>x", notes=["<u>note"])
    assert "<i>x" not in text
    assert "&lt;i&gt;x" in text
    assert "<u>note" not in text
    assert "<b>&valve" not in text
    assert "\\u003cb>&valve" in text


def test_metrics_notes_and_facts_are_shown(named: SubAdjacentDetector, plant: Plant) -> None:
    text = page(
        named,
        dated(plant.test),
        title="Plant",
        labels=plant.labels,
        metrics={"this detector": {"F1": 0.8125, "VUS-PR": 0.5}, "random score": {"F1": 0.05}},
        notes=["Fitted on another day."],
        facts={"File": "plant.csv"},
    )
    assert "Fitted on another day." in text
    assert "plant.csv" in text
    row = re.search(r"VUS-PR</th>(.*?)</tr>", text)
    assert row is not None
    assert re.findall(r">([^<]+)</td>", row[1]) == ["0.5", "—"]
    assert "labelled as anomalous" in own(text)
    assert "labelled as anomalous" not in own(page(named, dated(plant.test), title="Plant"))


def test_a_saved_detector_makes_the_same_page(
    named: SubAdjacentDetector, plant: Plant, tmp_path: Any
) -> None:
    named.save(tmp_path / "model")
    loaded = SubAdjacentDetector.load(tmp_path / "model")
    X = dated(plant.test)
    heading = re.compile("<h1>.*</h1>")
    assert heading.findall(page(loaded, X, title="")) == heading.findall(page(named, X, title=""))


def test_a_series_without_alarms_shorter_than_a_window_still_has_a_page(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    text = page(named, dated(plant.train[:5]), title="Short")
    assert "<h1>No alarms in 5 rows</h1>" in text
    assert "shorter than one window (20 rows)" in text


def test_times_may_be_plain_numbers(named: SubAdjacentDetector, plant: Plant) -> None:
    frame = dated(plant.test).reset_index(drop=True)
    frame.insert(0, "ds", np.arange(1000) * 0.5)
    text = page(named, frame, title="Numbers")
    assert '"kind":"number"' in text
    assert "<dd>499.5</dd>" in text


def test_warnings_say_what_to_be_wary_of(named: SubAdjacentDetector, plant: Plant) -> None:
    frame = dated(plant.test)
    frame["heat"] = 7.0
    frame = pd.concat([frame[:300], frame[500:]])
    told = " ".join(story.warnings(named, read(frame).series, above=0.25))
    assert "1 of 4 channels never move in this data and cannot show anything: heat." in told
    assert "The clock has 1 gap." in told
    assert "25% of the rows are above the threshold" in told
    assert "The threshold is extrapolated: it stands for one false alarm in 10,000 rows" in told
    facts = story.data_facts(read(frame).series, timelines(read(frame).series))
    assert (facts["Gaps in the clock"], facts["Constant channels"]) == ("1", "heat")
    assert (facts["Rows"], facts["Interval"], facts["Clock"]) == ("800", "5 min", "as given")


def test_few_training_rows_and_strange_entities_are_warned_of(plant: Plant) -> None:
    parts = {"a": plant.train[:150], "b": plant.train[150:300]}
    detector = SubAdjacentDetector(window=20, epochs=1).fit(parts)
    told = " ".join(story.warnings(detector, read({"z": plant.test}).series, above=0))
    assert "Fitted on 300 rows, 15 windows' worth" in told
    assert "Not seen in fitting, so scaled like all others: z." in told


def test_a_clock_away_from_utc_says_so(plant: Plant) -> None:
    frame = dated(plant.test).tz_localize("America/New_York")
    series = read(frame).series
    assert story.data_facts(series, timelines(series))["Clock"] == "UTC-05:00"


def test_settings_tell_what_auto_came_to(named: SubAdjacentDetector) -> None:
    told = story.settings(named)
    assert told["near"] == "auto: 4"
    assert told["window"] == "20"
    assert told["budget"] == "none"
    assert "ExtremeValue" in told["contamination"]


def test_only_the_worst_of_very_many_alarms_are_listed(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    X = dated(plant.test)
    series = read(X).series
    many = named.alarms(X)[:2] * MOST_LISTED
    rows = listed(many, series, timelines(series))
    assert len(rows) == MOST_LISTED
    assert {row.alarm for row in rows} == {max(many, key=lambda alarm: alarm.severity)}


def test_a_row_says_how_long_and_how_bad_in_words(named: SubAdjacentDetector, plant: Plant) -> None:
    X = dated(plant.test)
    (series,), alarm = read(X).series, named.alarms(X)[0]
    short = replace(alarm, first=10, last=10, duration=1, severity=-2.0)
    huge = replace(alarm, first=280, last=300, duration=21, severity=123_456.0)
    one, other = listed([short, huge], [series], timelines([series]))
    assert (one.when, one.lasted, one.severity, one.share) == (
        "2026-01-01 00:50",
        "5 min",
        "-2.0",
        0,
    )
    assert (other.when, other.until) == ("2026-01-01 23:20", "2026-01-02 01:00")
    assert (other.lasted, other.severity, other.share) == ("1 h 45 min", "1.23e+05", 100)
    bare = TrainSeries(series.values, channels=series.channels)
    row, rows = listed([short, huge], [bare], timelines([bare]))
    assert (row.when, row.lasted) == ("row 10", "1 row")
    assert (rows.until, rows.lasted) == ("row 300", "21 rows")


def test_labels_follow_the_rows_of_a_frame_with_mixed_entities() -> None:
    frame = pd.DataFrame({"item_id": ["b", "a", "b", "a"], "x": [1.0, 2, 3, 4]})
    assert marked_stretches([1, 0, 1, 1], read(frame)) == [[(0, 2)], [(1, 2)]]


def test_labels_come_in_the_shape_of_the_input() -> None:
    rows = np.zeros((3, 1))
    assert marked_stretches([[0, 1, 1], [0, 0, 0]], read([rows, rows])) == [[(1, 3)], []]
    assert marked_stretches({"a": [1, 0, 1]}, read({"a": rows})) == [[(0, 1), (2, 3)]]
    with pytest.raises(InputError, match="labels must be a dict with the keys of X"):
        marked_stretches([0, 0, 0], read({"a": rows}))
    with pytest.raises(InputError, match="labels must be a list of 2"):
        marked_stretches([[0, 0, 0]], read([rows, rows]))
    with pytest.raises(InputError, match="labels must be 0 or 1, one for each of 3 rows"):
        marked_stretches([0, 1], read(rows))


def test_the_part_fitted_on_marks_the_alarms_that_touch_it(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    X = dated(plant.test)
    (series,), alarms = read(X).series, named.alarms(X)
    until = alarms[1].first
    for last, tagged in ((until, 1), (until + 1, 2)):
        rows = listed(alarms, [series], timelines([series]), [[(0, last)]])
        assert [row.fitted for row in rows] == [True] * tagged + [False] * (len(rows) - tagged)
    text = page(named, X, title="", fitted=np.arange(len(X)) < until)
    assert own(text).count("in training part") == 1
    assert f'"fitted":[[0,{until}]]' in text
    without = own(page(named, X, title=""))
    assert "in training part" not in without
    assert "fitted on this part" not in without
    with pytest.raises(InputError, match="fitted must be 0 or 1, one for each of 1000 rows"):
        page(named, X, title="", fitted=[1, 0])


@pytest.mark.parametrize(
    ("epochs", "told"),
    [(0, "The network was not trained"), (1, "One has no course to draw"), (2, "2 epochs in")],
)
def test_a_training_without_a_course_is_told_in_words(
    named: SubAdjacentDetector, plant: Plant, epochs: int, told: str
) -> None:
    short = copy(named)
    short.history_ = named.history_[:epochs]
    text = page(short, dated(plant.test[:300]), title="")
    assert told in text
    # what Bokeh puts a chart into; the page has no others of this name
    assert ("by epoch" in own(text)) == (epochs > 1)


def test_whoever_watches_hears_of_all_the_work(named: SubAdjacentDetector, plant: Plant) -> None:
    X = dated(plant.test)
    heard: list[tuple[int, int, str]] = []
    found = find(named, X, watch=lambda *one: heard.append(one))
    text = page(named, X, title="", found=found, watch=lambda *one: heard.append(one))
    for what, least in (("rows scored", 3), ("values drawn", 12)):
        done = [one for one, _, kind in heard if kind == what]
        total = [all_ for _, all_, kind in heard if kind == what][-1]
        assert len(done) >= least
        assert done == sorted(done)
        assert done[-1] == total
    # scored, reconstructed, scored for the alarms; then the windows with alarms once more
    totals = sorted({total for _, total, kind in heard if kind == "rows scored"})
    windows = {alarm.peak for alarm in found.alarms}
    assert totals[0] == 3_000
    assert 3_000 + 20 * len(windows) <= totals[1] < 4_000
    assert not named.network_._forward_hooks
    heading = re.compile("<h1>.*</h1>")
    assert heading.findall(text) == heading.findall(page(named, X, title=""))


def test_findings_are_what_the_detector_gives_alone(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    X = dated(plant.test)
    found = find(named, X)
    pd.testing.assert_series_equal(found.scores, named.decision_function(X))
    assert found.alarms == named.alarms(X)
