"""The figures that stand below each other, and that any assessment has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from subadjacent import MagnitudeDetector
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.panels import in_words, panels, shown_severity, trace_names


def small() -> Assessment:
    rows = np.array([[0.0, 1.0], [2.0, 3.0]] * 10)
    return MagnitudeDetector(smoothing=2).fit(rows).assess({"a": rows, "b": rows[:5]})


def test_panels_by_hand() -> None:
    found = panels(small())
    assert [panel.key for panel in found] == ["trace_0", "severity"]
    assert [panel.title for panel in found] == ["Error", "Severity"]
    assert found[0].about == "mean squared residual of the channels, before it is averaged"
    assert found[1].about == "1 is the threshold; it adapts to a permanent change"


def test_an_unknown_name_is_a_title_all_the_same() -> None:
    found = small()
    score = found.evidence[0].score
    first = found.evidence[0]._replace(traces={"my_own_CPU": score, "score": score})
    shown = panels(replace(found, evidence=(first, found.evidence[1])))
    assert (shown[0].title, shown[0].about) == ("My own CPU", "")
    # the other series has none of that name
    assert [panel.title for panel in shown[1:]] == ["Row score", "Error", "Severity"]


def test_a_view_is_called_what_it_compares_with() -> None:
    found = small()
    score = found.evidence[0].score
    traces = {"other channels": score, "all channels": score, "state": score}
    shown = panels(replace(found, evidence=(found.evidence[0]._replace(traces=traces),)))
    assert [(panel.title, panel.about) for panel in shown[:-1]] == [
        ("Against other channels", "what the other channels do not explain either"),
        ("All channels together", "what is left over of all channels together"),
        ("State", "how far a row is from the nearest training rows"),
    ]


def test_a_view_that_adds_nothing_has_no_figure() -> None:
    first, second = small().evidence
    none = first._replace(traces={"level": first.score, "network": np.zeros(20)})
    assert trace_names([none]) == ("level",)
    some = second._replace(traces={"network": np.eye(1, 5)[0]})
    assert trace_names([none, some]) == ("level", "network")


def test_one_channel_is_not_compared_with_others() -> None:
    assert in_words("other channels") == "against other channels"
    assert in_words("other channels", 1) == "all forecasts"
    found = small()
    series = tuple(
        replace(one, values=one.values[:, :1], channels=("flow",)) for one in found.series
    )
    first = found.evidence[0]._replace(traces={"other channels": found.evidence[0].score})
    table = replace(found.table, series=series)
    shown = panels(replace(found, table=table, evidence=(first, found.evidence[1])))
    assert (shown[0].title, shown[0].about) == ("All forecasts", "what no forecast explains")


def test_a_severity_far_below_a_typical_one_does_not_flatten_the_chart() -> None:
    assert shown_severity(np.array([-65.0, -0.2, 3.0])).tolist() == [-1.0, -0.2, 3.0]
