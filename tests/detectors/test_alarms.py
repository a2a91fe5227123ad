"""Alarms are a list that is shown as a table."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from detectors.hand import by_hand
from subadjacent import InputError, SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.detectors.alarms import Alarms


def test_a_slice_is_shown_as_a_table_too_and_all_else_is_a_list() -> None:
    found = by_hand().alarms(again=0)
    assert len(found) == 2
    assert isinstance(found, Alarms)
    assert isinstance(found[1:], Alarms)
    assert found[1:] == [found[1]] == list(found)[1:]
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found


def worded(**options: int) -> Alarms:
    """Two alarms, at rows 2 and 4, with sentences of their own."""
    found = by_hand().alarms(**options)
    said = ("it was high", "it was higher than it had ever been before")
    return Alarms(
        (replace(alarm, sentence=text) for alarm, text in zip(found, said, strict=True)),
        found.assessment,
    )


def test_alarms_print_as_a_table_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    found = worded(again=0)
    assert repr(found).splitlines() == [
        "2 alarms in 6 rows",
        "when   lasted  severity  what happened",
        # decades of a tail with a scale of 1 and a shape of 0.1
        "row 2  1 row        1.4  it was high",
        # as many lines as it needs
        "row 4  1 row        2.1  it was higher than it had ever been",
        "                         before",
    ]
    assert repr(found[:1]).startswith("1 of 2 alarms in 6 rows\n")
    assert str(found[:0]) == "0 of 2 alarms in 6 rows"


def test_repeats_are_folded_under_the_first_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert repr(worded()).splitlines()[2:] == [
        "row 2  1 row        1.4  it was high",
        "                         and once more, row 4; severity 2.1: it",
        "                         was higher than it had ever been before",
    ]
    # a repeat that is no worse has nothing to add
    first, second = worded()
    less = Alarms([first, replace(second, severity=1.0)], by_hand())
    assert repr(less).splitlines()[-1].strip() == "and once more, row 4"
    monkeypatch.setenv("COLUMNS", "90")
    third = replace(second, number=3, first=5, last=5)
    more = Alarms([first, second, third], by_hand())
    assert "and 2 more until row 5; the worst at row 4, severity 2.1" in repr(more)
    # told as something else, it is no repeat to a reader
    cause = replace(second.causes[0], kind="stuck") if second.causes else None
    other = replace(second, kind="stuck", causes=(cause,) if cause else ())
    assert len(repr(Alarms([first, other], by_hand())).splitlines()) == 4


def test_an_assessment_prints_short_and_is_a_table_in_a_notebook() -> None:
    found = by_hand()
    assert repr(found) == (
        "<Assessment of 6 rows, 2 channels, 1 series: 2 events, severity up to 2.1>"
    )
    assert found._repr_html_() == found.alarms()._repr_html_()


def test_names_are_escaped_in_a_notebook(plant: Plant) -> None:
    names = ["<b>a</b>", "b&c", "c\x1b[2J", "d"]
    train, test = (pd.DataFrame(rows, columns=names) for rows in (plant.train, plant.test))
    detector = SubAdjacentDetector().fit({"<i>": train})
    text = detector.alarms({"<i>": test})._repr_html_()
    assert "&lt;i&gt;: " in text
    assert "<b>" not in text
    assert "<i>" not in text
    assert "\x1b" not in text


def test_a_frame_has_the_library_of_the_input_and_its_times(plant: Plant) -> None:
    times = pd.date_range("2026-01-01", periods=len(plant.train), freq="min", tz="UTC")
    names = ["a", "b", "c", "d"]
    detector = SubAdjacentDetector().fit(pd.DataFrame(plant.train, times, names))
    rows = pd.DataFrame(plant.test, times[: len(plant.test)], names)
    found = detector.alarms(rows)
    table = found.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["start"].tolist() == [alarm.start for alarm in found]
    assert table["start"].dt.tz is not None
    assert table["severity"].tolist() == [alarm.severity for alarm in found]
    assert table["channel"].tolist() == [alarm.causes[0].channel for alarm in found]
    assert "entity" not in table
    assert found.to_frame("pyarrow").column_names == list(table.columns)
    other = found.to_frame("polars")
    assert isinstance(other, pl.DataFrame)
    assert other.columns == list(table.columns)
    stamped = [datetime(2026, 1, 1) + timedelta(minutes=row) for row in range(len(rows))]
    frame = pl.DataFrame(plant.test, names).with_columns(time=pl.Series(stamped))
    ours = detector.fit(frame[:300]).alarms(frame).to_frame()
    assert isinstance(ours, pl.DataFrame)
    assert ours["start"].dtype.is_temporal()


def test_a_frame_of_several_entities_names_them_and_one_of_no_alarms_has_types(
    plant: Plant,
) -> None:
    detector = SubAdjacentDetector().fit({"pump": plant.train, "fan": plant.train})
    found = detector.alarms({"pump": plant.test, "fan": plant.test[:100]})
    table = found.to_frame("polars")
    assert table["entity"].to_list() == [alarm.entity for alarm in found]
    assert found[:0].to_frame("polars").schema["severity"] == pl.Float64
    # arrays have no library
    assert isinstance(found.to_frame(), pd.DataFrame)
    assert detector.alarms({"fan": plant.test}, channels=0).to_frame()["channel"].isna().all()


def test_without_pandas_a_frame_is_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.detectors.alarms.find_spec", lambda _: None)
    assert isinstance(by_hand().alarms().to_frame(), pl.DataFrame)


def test_a_plot_is_of_the_worst_entity_or_the_one_named(plant: Plant) -> None:
    detector = SubAdjacentDetector().fit({"pump": plant.train, "fan": plant.train})
    calm = np.ascontiguousarray(plant.train[:200])
    assessment = detector.assess({"pump": calm, "fan": plant.test})
    figure = assessment.alarms().plot(channels=["channel_1"], traces=False)
    assert [axis.get_ylabel() for axis in figure.axes] == ["channel_1", "severity"]
    assert figure.axes[0].get_xlim()[1] == len(plant.test) - 0.5
    assert assessment.plot("pump").axes[0].get_xlim()[1] == 199.5
    assert figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="entity must be one of"):
        assessment.plot("valve")


def test_without_matplotlib_a_plot_is_the_report(
    monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    monkeypatch.delitem(sys.modules, "subadjacent.report.figures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    detector = SubAdjacentDetector().fit(plant.train)
    page = detector.assess(plant.test).plot()
    assert repr(page).startswith("<ReportPage of ")
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')


def test_a_report_is_written_and_shown(tmp_path: Any, plant: Plant) -> None:
    detector = SubAdjacentDetector().fit(plant.train)
    page = detector.report(plant.test, tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_text() == page.html
    assert detector.report(plant.test).html.startswith("<!DOCTYPE html>")
