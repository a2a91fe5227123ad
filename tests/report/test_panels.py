"""The figures that stand below each other, and that any assessment has them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np

from subadjacent import MagnitudeDetector
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.panels import expected_of, panels, trace_of


def small() -> Assessment:
    rows = np.array([[0.0, 1.0], [2.0, 3.0]] * 10)
    return MagnitudeDetector(smoothing=2).fit(rows).assess({"a": rows, "b": rows[:5]})


def test_panels_by_hand() -> None:
    found = panels(small())
    assert [panel.key for panel in found] == ["data", "trace_0", "severity"]
    assert [panel.title for panel in found] == ["Data", "Error", "Severity"]
    assert found[1].about == "mean squared residual of the channels, before it is averaged"
    assert found[2].about == "1 is the threshold; it follows a series that has moved for good"
    assert [[line.key for line in panel.lines] for panel in found] == [
        ["seen", "expected"],
        ["trace_0"],
        ["severity"],
    ]


def test_a_name_that_nobody_knows_is_a_title_all_the_same() -> None:
    found = small()
    score = found.evidence[0].score
    first = found.evidence[0]._replace(traces={"my_own_trace": score, "score": score})
    shown = panels(replace(found, evidence=(first, found.evidence[1])))
    assert (shown[1].title, shown[1].about) == ("My own trace", "")
    # the other series has none of that name
    assert [panel.title for panel in shown[2:]] == ["Row score", "Error", "Severity"]


def test_the_caption_of_a_view_begins_with_the_words_of_its_alarms() -> None:
    found = small()
    score = found.evidence[0].score
    first = found.evidence[0]._replace(traces={"state": score}, views=("state",))
    shown = panels(replace(found, evidence=(first,)))
    assert shown[1].title == "State"
    assert shown[1].about == (
        "a combination of values never seen in training: "
        "how far a row is from the nearest training rows"
    )


def test_what_is_not_there_is_not_a_number() -> None:
    evidence = small().evidence[1]._replace(expected=None)
    assert np.isnan(expected_of(evidence)).tolist() == [[True, True]] * 5
    assert np.isnan(trace_of(evidence, "rhythm")).tolist() == [True] * 5
    assert not np.isnan(trace_of(evidence, "error")).any()


def test_the_page_and_the_figures_of_a_control_need_no_torch() -> None:
    code = """
import sys, tempfile
from subadjacent import MagnitudeDetector
from subadjacent.report.figures import save_figures
from subadjacent.report.page import page
rows = [[1.0], [2.0]] * 30
detector = MagnitudeDetector().fit(rows)
found = detector.assess(rows)
page(detector, found, title="")
with tempfile.TemporaryDirectory() as folder:
    save_figures(detector, found, folder)
assert "torch" not in sys.modules, "torch is imported"
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
