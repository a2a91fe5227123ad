"""Static figures are made, show what they should, and are saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from report.sample import dated
from subadjacent import InputError, SubAdjacentDetector
from subadjacent.data.plant import Plant
from subadjacent.report.figures import (
    figure_attention,
    figure_trace,
    figure_training,
    save_figures,
)


def test_the_trace_has_a_row_for_each_channel_asked_for_and_four_below(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    (trace,) = detector.trace(plant.test)
    figure = figure_trace(
        trace,
        detector.alarms(plant.test),
        threshold=detector.threshold_,
        channels=["channel_1", "channel_3"],
        labels=plant.labels,
    )
    assert [axis.get_ylabel() for axis in figure.axes] == [
        *("channel_1", "channel_3", "error", "contribution", "score", "decision")
    ]
    assert detector.threshold_ in figure.axes[-1].lines[-1].get_ydata()


def test_the_trace_shows_the_channel_that_explains_the_worst_alarm(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    (trace,) = detector.trace(plant.test)
    alarms = detector.alarms(plant.test)
    worst = max(alarms, key=lambda alarm: alarm.severity)
    figure = figure_trace(trace, alarms, threshold=1.0)
    assert figure.axes[0].get_ylabel() == worst.causes[0].channel
    assert figure_trace(trace, [], threshold=1.0).axes[0].get_ylabel() == "channel_0"


def test_a_long_trace_is_drawn_with_fewer_points_and_all_its_peaks(
    detector: SubAdjacentDetector, plant: Plant
) -> None:
    (trace,) = detector.trace(np.tile(plant.test, (5, 1)))
    drawn = figure_trace(trace, [], threshold=1.0).axes[-1].lines[0]
    assert len(drawn.get_ydata()) == 2 * -(-5_000 // 3)
    assert np.max(drawn.get_ydata()) == trace.decision.max()
    assert (np.diff(drawn.get_xdata()) > 0).all()


def test_times_stand_below_the_trace_of_a_dated_series(
    named: SubAdjacentDetector, plant: Plant
) -> None:
    (trace,) = named.trace(dated(plant.test))
    ticks = figure_trace(trace, [], threshold=1.0).axes[-1].get_xticklabels()
    assert [tick.get_text() for tick in ticks][::4] == ["2026-01-01 00:00", "2026-01-04 11:15"]


def test_the_part_fitted_on_is_shaded(detector: SubAdjacentDetector, plant: Plant) -> None:
    (trace,) = detector.trace(plant.test)
    figure = figure_trace(trace, [], threshold=1.0, fitted=np.arange(1_000) < 400)
    for axis in figure.axes:
        (shade,) = axis.patches
        assert (shade.get_x(), shade.get_x() + shade.get_width()) == (-0.5, 399.5)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["seen", "expected", "fitted on this part"]


def test_an_unknown_channel_is_named(detector: SubAdjacentDetector, plant: Plant) -> None:
    (trace,) = detector.trace(plant.test)
    with pytest.raises(InputError, match=r"channels must be among .* got \['flow'\]"):
        figure_trace(trace, [], threshold=1.0, channels=["flow"])


def test_attention_and_training_are_drawn(detector: SubAdjacentDetector, plant: Plant) -> None:
    (trace,) = detector.trace(plant.test)
    attention = figure_attention(detector, trace.series, 500)
    assert attention.axes[0].images[0].get_array().shape == (detector.window_,) * 2
    assert len(figure_training(detector.history_).axes) == 3


def test_figures_are_saved_one_for_each_entity(
    detector: SubAdjacentDetector, plant: Plant, tmp_path: Path
) -> None:
    parts = {"a/b": plant.test[:400], "c": plant.test[400:]}
    paths = save_figures(detector, parts, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [
        *("trace-0-a_b.png", "trace-1-c.png", "attention.png", "training.png")
    ]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_without_alarms_there_is_no_attention_to_show(plant: Plant, tmp_path: Path) -> None:
    long = np.tile(plant.base[:100], (50, 1))
    quiet = SubAdjacentDetector(window=20, epochs=1, contamination=1e-9).fit(plant.train)
    quiet.threshold_ = 1e9
    assert [path.stem for path in save_figures(quiet, long, tmp_path)] == ["trace"]
