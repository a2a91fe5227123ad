"""Static figures show what they should, and so do the facts of models that have some."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from report.attentive import EPOCHS, AttentiveDetector, AttentiveModel, Epoch
from report.sample import dated, explainer_of
from subadjacent import InputError, SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.detectors.assessment import Assessment
from subadjacent.report.figures import figure_series
from subadjacent.report.model_facts import attention, curves
from subadjacent.rivals.controls import MagnitudeDetector


@pytest.fixture(scope="module")
def found(detector: SubAdjacentDetector, plant: Plant) -> Assessment:
    return detector.assess(plant.test)


def test_the_figure_has_a_row_for_each_channel_asked_for_each_trace_and_the_severity(
    found: Assessment, plant: Plant
) -> None:
    figure = figure_series(found, channels=["channel_1", "channel_3"], labels=plant.labels)
    assert [axis.get_ylabel() for axis in figure.axes] == [
        *("channel_1", "channel_3"),
        *("level", "rhythm", "local rhythm", "slow rhythm", "state", "shape"),
        *("against other\nchannels", "all channels\ntogether", "severity"),
    ]
    severity, threshold = figure.axes[-1].lines
    np.testing.assert_array_equal(severity.get_ydata(), found.normalized_scores)
    assert threshold.get_ydata() == [1, 1]
    expected, seen = figure.axes[0].lines
    np.testing.assert_array_equal(seen.get_ydata(), plant.test[:, 1])
    usual = explainer_of(found).expected_range(1)
    np.testing.assert_array_equal(expected.get_ydata(), usual.expected)
    band = figure.axes[0].collections[0]
    edges = band.get_paths()[0].vertices
    assert (edges[:, 1].min(), edges[:, 1].max()) == (usual.low.min(), usual.high.max())


def test_the_figure_shows_the_channel_that_explains_the_worst_alarm(found: Assessment) -> None:
    worst = max(found.alarms(), key=lambda alarm: alarm.severity)
    assert figure_series(found).axes[0].get_ylabel() == worst.causes[0].channel
    assert figure_series(found, alarms=[]).axes[0].get_ylabel() == "channel_0"
    with pytest.raises(InputError, match=r"first and a last one of 0 to 999; got \(1000, 1200\)"):
        figure_series(found, rows=(1_000, 1_200))
    with pytest.raises(InputError, match=r"channels must be among .* got \['flow'\]"):
        figure_series(found, channels=["flow"])


def test_a_long_series_is_drawn_with_fewer_points_and_all_its_peaks(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    found = detector.assess(np.tile(plant.test, (5, 1)))
    drawn = figure_series(found, alarms=[]).axes[-1].lines[0]
    assert len(drawn.get_ydata()) == 2 * -(-5_000 // 3)
    assert np.max(drawn.get_ydata()) == found.normalized_scores.max()
    assert (np.diff(drawn.get_xdata()) > 0).all()
    # what is usual is as far as it reaches in three rows; a line of it would hide the data
    channel = figure_series(found, alarms=[]).axes[0]
    assert len(channel.lines) == 1
    usual = explainer_of(found).expected_range(0)
    edges = channel.collections[0].get_paths()[0].vertices[:, 1]
    assert (edges.min(), edges.max()) == (usual.low.min(), usual.high.max())


def test_round_times_and_numbers_stand_below_the_rows(plant: Plant) -> None:
    # rows are 5 minutes apart: 2026-01-01 00:00 to 16:35
    times = pd.date_range("2026-01-01", periods=200, freq="5min")
    clock = ["Jan-01", "03:00", "06:00", "09:00", "12:00", "15:00"]
    minutes = pd.date_range("2026-01-01", periods=200, freq="1min")
    numbers = ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25", "1.50"]
    for index, texts, day, second in (
        (times, clock, "2026-Jan-01", 36),
        (minutes, ["Jan-01", "01:00", "02:00", "03:00"], "2026-Jan-01", 60),
        (np.arange(200) * 0.008, numbers, "", 31.25),
    ):
        frame = pd.DataFrame(plant.test[:200], index=index).add_prefix("channel ")
        axis = figure_series(MagnitudeDetector().fit(frame).assess(frame), alarms=[]).axes[-1]
        assert [tick.get_text() for tick in axis.get_xticklabels()] == texts
        assert axis.get_xlabel() == day
        np.testing.assert_allclose(axis.get_xticks()[1], second)


def test_alarms_the_part_fitted_on_and_labels_are_marked_and_named(found: Assessment) -> None:
    one = replace(found.alarms()[0], first=10, last=10)
    alarms = [one, replace(one, status="withdrawn", first=20), replace(one, first=30, last=40)]
    rows = np.arange(1_000)
    marked: tuple[tuple[dict[str, Any], str, list[tuple[float, float]]], ...] = (
        ({"alarms": alarms}, "alarm", [(9.5, 10.5), (29.5, 40.5)]),
        ({"fitted": rows < 400}, "fitted on this part", [(-0.5, 399.5)]),
        ({"labels": (rows >= 20) & (rows < 30)}, "labelled", [(19.5, 29.5)]),
    )
    for marks, name, edges in marked:
        figure = figure_series(found, **{"alarms": [], "traces": False} | marks)
        assert [axis.get_ylabel() for axis in figure.axes[1:]] == ["severity"]
        texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert texts == ["expected range", "expected", "seen", name]
        for axis in figure.axes:
            shown = [(part.get_x(), part.get_x() + part.get_width()) for part in axis.patches]
            assert shown == edges
    # labels are a strip above the data
    for axis in figure.axes:
        (strip,) = axis.patches
        assert (strip.get_y(), strip.get_height()) == pytest.approx((0.93, 0.07))
    low, high = figure.axes[-1].get_ylim()
    assert found.normalized_scores.max() < low + 0.93 * (high - low)


def test_only_the_rows_asked_for_are_drawn(found: Assessment, plant: Plant) -> None:
    figure = figure_series(found, channels=["channel_1"], rows=(990, 2_000), alarms=[])
    _, seen = figure.axes[0].lines
    assert seen.get_xdata().tolist() == list(range(990, 1_000))
    np.testing.assert_array_equal(seen.get_ydata(), plant.test[990:, 1])
    np.testing.assert_array_equal(
        figure.axes[-1].lines[0].get_ydata(), found.normalized_scores[990:]
    )
    assert figure.axes[-1].get_xlim() == (989.5, 999.5)
    early = figure_series(found, channels=["channel_1"], rows=(-5, 3), alarms=[])
    assert early.axes[-1].get_xlim() == (-0.5, 3.5)
    usual = explainer_of(found).expected_range(1)
    edges = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert (edges.min(), edges.max()) == (usual.low[990:].min(), usual.high[990:].max())


def test_a_network_without_attention_shows_none(attentive: AttentiveDetector, plant: Plant) -> None:
    class Blind(AttentiveModel):
        def attention_around(self, rows: np.ndarray, row: int) -> tuple[int, np.ndarray]:
            raise InputError(f"no attention at row {row} of {len(rows)}")

    blind = copy(attentive)
    blind.models_ = attentive.models_.map(lambda model: Blind(model, (), None))
    (series,) = blind.assess(dated(plant.test)).series
    assert attention(blind, series, 507) is None


def test_an_epoch_without_a_number_leaves_a_hole_in_its_curve() -> None:
    class Longer(Epoch):
        def curves(self) -> dict[str, float]:
            return super().curves() | {"contribution": 0.25}

    found = curves([EPOCHS[0], Longer(2, 0.5, 0.8)])
    assert found["train_loss"] == [0.9, 0.5]
    np.testing.assert_array_equal(found["contribution"], [np.nan, 0.25])
    assert curves([]) == {}


def test_attention_is_that_of_the_segment_a_row_is_in(
    attentive: AttentiveDetector, plant: Plant
) -> None:
    frame = dated(plant.test).drop(dated(plant.test).index[105:300])
    (series,) = attentive.assess(frame).series
    assert series.starts == (0, 105)
    looked = attention(attentive, series, 130)
    assert looked is not None
    # windows of the second segment begin at rows 105, 125, …
    assert looked.first == 125
