"""The view and the channels that the default names, on anomalies of a known kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduce.cases import case
from subadjacent import Alarm, MagnitudeDetector, SubAdjacentDetector, load
from subadjacent.data.plant import Plant

# views that a kind of anomaly may be named by, and the channels that it shows in. A channel at its
# other level is a new combination of all three that switch: none of them is at fault by itself.
# A cycle that runs through the middle of its ring is a new shape of each channel as well
KINDS: dict[str, tuple[set[str], set[int]]] = {
    "unseen combination": ({"state"}, {0, 1, 2}),
    "off the ring": ({"state", "shape"}, {0, 1}),
    "reversed beat": ({"shape"}, {0}),
    "other wave": ({"shape"}, {0}),
}
SEEDS = range(8)


def touching(drawn: Plant, alarms: list[Alarm]) -> list[Alarm]:
    """Alarms that touch an event."""
    return [
        alarm
        for alarm in alarms
        if any(event.start <= alarm.last and alarm.first < event.stop for event in drawn.events)
    ]


def true_alarms(drawn: Plant) -> list[Alarm]:
    """Alarms of the default that touch an event."""
    return touching(drawn, SubAdjacentDetector().fit(drawn.train).alarms(drawn.test))


@pytest.mark.parametrize(
    "kind",
    [
        "reversed beat",
        "off the ring",
        *(
            pytest.param(kind, marks=pytest.mark.sweep)
            for kind in ("unseen combination", "other wave")
        ),
    ],
)
def test_most_alarms_name_what_was_never_seen_and_where(kind: str) -> None:
    views, channels = KINDS[kind]
    alarms = [alarm for seed in SEEDS for alarm in true_alarms(case(kind, seed))]
    assert len(alarms) >= 4
    named = [alarm.view in views for alarm in alarms]
    first = [alarm.causes[0].channel in {f"channel_{n}" for n in channels} for alarm in alarms]
    assert np.mean(named) > 0.6
    assert np.mean(first) > 0.9


def test_a_combination_never_seen_is_called_so() -> None:
    alarms = true_alarms(case("unseen combination", seed=1))
    assert alarms
    # a weaker one may be told by what a single channel did
    worst = max(alarms, key=lambda alarm: alarm.severity)
    assert "part of a combination of values never seen in training" in worst.sentence


def test_saving_entities_and_gaps_leave_the_views_as_they_are(tmp_path: Path) -> None:
    drawn = case("reversed beat", seed=1)
    detector = SubAdjacentDetector().fit(drawn.train)
    alarms = detector.alarms(drawn.test)
    true = touching(drawn, alarms)
    assert [alarm.view for alarm in true] == ["shape"] * len(drawn.events)
    # chance raises another now and then: a row or two, weaker than any of these
    false = [alarm for alarm in alarms if alarm not in true]
    assert len(false) <= 2
    assert all(alarm.severity < min(one.severity for one in true) for alarm in false)
    detector.save(tmp_path / "model")
    assert load(tmp_path / "model").alarms(drawn.test) == alarms

    apart = SubAdjacentDetector().fit({"a": drawn.train, "b": drawn.train[::-1]})
    views = {(alarm.entity, alarm.view) for alarm in apart.alarms({"a": drawn.test})}
    assert ("a", "shape") in views

    first, second = true[:2]
    middle = (first.last + second.first) // 2
    times = pd.date_range("2026-01-01", periods=len(drawn.test), freq="1min").to_series()
    times.iloc[middle:] += pd.Timedelta("5h")
    frame = pd.DataFrame(drawn.test, index=pd.DatetimeIndex(times))
    names = [f"channel_{n}" for n in range(frame.shape[1])]
    timed = SubAdjacentDetector().fit(pd.DataFrame(drawn.train, columns=names))
    found = timed.assess(frame.set_axis(names, axis=1))
    assert len(found.series[0].segments) == 2
    again = touching(drawn, found.alarms())
    assert [alarm.view for alarm in again] == ["shape"] * len(drawn.events)


def test_a_detector_without_views_names_none(plant: Plant) -> None:
    alarms = MagnitudeDetector().fit(plant.train).alarms(plant.test)
    assert alarms
    assert {alarm.view for alarm in alarms} == {None}
    assert all(alarm.sentence for alarm in alarms)
