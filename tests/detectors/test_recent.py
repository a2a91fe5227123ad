"""The last training rows, kept with a detector."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from detectors.waves import waves
from subadjacent import SubPCADetector, TrainSeries
from subadjacent.detectors.recent import (
    CENTERS,
    ROWS,
    Recent,
    load_recent,
    recent_rows,
    save_recent,
)
from subadjacent.errors import InputError


def counted(rows: int, *starts: int, entity: str | None = None) -> TrainSeries:
    values = np.arange(2.0 * rows).reshape(rows, 2)
    return TrainSeries(values, starts=(0, *starts), entity=entity)


def test_the_last_rows_of_segments_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subadjacent.detectors.recent.MOST_ROWS", 5)
    found = recent_rows([counted(10, 4, 8)])[None]
    # two rows of the last segment, three of that before it
    assert [part.tolist() for part in found.segments] == [
        [[10.0, 11.0], [12.0, 13.0], [14.0, 15.0]],
        [[16.0, 17.0], [18.0, 19.0]],
    ]
    assert found.center.tolist() == [18.0, 19.0]
    assert all(part.dtype == np.float32 for part in found.parts)


@pytest.mark.parametrize(
    ("limit", "value", "rows"),
    [("MOST_ROWS", 4, 4), ("MOST_VALUES", 14, 7), ("MOST_IN_ALL", 12, 3), ("MOST_IN_ALL", 1, 1)],
)
def test_how_many_are_kept_is_bounded(
    limit: str, value: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"subadjacent.detectors.recent.{limit}", value)
    found = recent_rows([counted(20, entity="a"), counted(30, entity="b")])
    assert {name: len(one.segments[0]) for name, one in found.items()} == {"a": rows, "b": rows}


def test_small_moves_far_from_0_are_not_lost() -> None:
    values = 1e9 + np.array([[0.0], [0.25], [-0.5], [0.125]])
    assert recent_rows([TrainSeries(values)])[None].segments[0].tolist() == values.tolist()


def test_entities_and_segments_are_saved_and_loaded() -> None:
    series = [counted(9, 3, 5, entity="a"), counted(4, entity="b")]
    found = recent_rows(series)
    arrays, facts = save_recent(found)
    assert facts == {"lengths": [[3, 2, 4], [4]]}
    loaded = load_recent(arrays, facts, 2, ["a", "b"])
    assert list(loaded) == ["a", "b"]
    for name, one in found.items():
        for mine, other in zip(loaded[name].segments, one.segments, strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("arrays", "lengths", "said"),
    [
        ({}, [[3, 2, 4]], "lengths must be 2 lists"),
        ({}, "many", "lengths must be 2 lists"),
        ({}, [[3, 2, 4], [0]], "lengths must be 2 lists"),
        ({}, [[3, 2, 4], [True]], "lengths must be 2 lists"),
        ({}, [[3, 2, 4], [5]], r"recent\.rows must have shape \(14, 2\)"),
        ({ROWS: np.full((13, 2), np.nan)}, [[3, 2, 4], [4]], r"recent\.rows must be finite"),
        ({CENTERS: np.zeros((1, 2))}, [[3, 2, 4], [4]], r"recent\.centers must have shape"),
    ],
)
def test_what_does_not_fit_is_refused(
    arrays: dict[str, np.ndarray], lengths: object, said: str
) -> None:
    right, _ = save_recent(recent_rows([counted(9, 3, 5, entity="a"), counted(4, entity="b")]))
    with pytest.raises(InputError, match=said):
        load_recent(right | arrays, {"lengths": lengths}, 2, ["a", "b"])


def test_a_detector_keeps_rows_without_faults(tmp_path: Path) -> None:
    rows = waves(400)
    rows[390, 1] = 9999
    detector = SubPCADetector().fit(rows)
    kept = detector.recent_[None].segments[0]
    assert kept.shape == (400, 3)
    assert kept.max() < 10
    np.testing.assert_allclose(kept[:390], rows[:390], atol=1e-6)
    detector.save(tmp_path / "model")
    loaded: Recent = SubPCADetector.load(tmp_path / "model").recent_[None]
    np.testing.assert_array_equal(loaded.segments[0], kept)
