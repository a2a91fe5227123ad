"""The real sets: every entity is fitted, and each of its rows gets a finite score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from subadjacent import SubAdjacentDetector

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

FIRST = 2_000
"""Rows of each part of an entity: whole ones are fitted and scored for the tables in results/."""


@pytest.mark.shared
@pytest.mark.parametrize("name", ["msl", "smap", "smd19"])
def test_detector_fits_and_scores_every_entity(name: str) -> None:
    file = DATA / f"{name}.npz"
    if not file.exists():
        pytest.skip(f"benchmark data is not there: {file}")
    with np.load(file) as data:
        entities = data["entities"].tolist()
        train, test = (
            {
                entity: np.ascontiguousarray(rows[:FIRST])
                for entity, rows in zip(
                    entities,
                    np.split(data[part], np.cumsum(data[f"{part}_lengths"])[:-1]),
                    strict=True,
                )
            }
            for part in ("train", "test")
        )
    detector = SubAdjacentDetector().fit(train)
    assert np.isfinite(detector.decision_scores_).all()
    assert len(detector.decision_scores_) == sum(map(len, train.values()))
    found = detector.assess(test)
    assert {entity: len(one) for entity, one in found.scores.items()} == {
        entity: len(one) for entity, one in test.items()
    }
    assert all(np.isfinite(one).all() for one in found.scores.values())
    alarms = found.alarms()
    assert alarms
    assert {alarm.entity for alarm in alarms} <= set(entities)
