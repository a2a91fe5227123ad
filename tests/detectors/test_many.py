"""A detector for each of many entities says what it would if there were no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent import SubAdjacentDetector
from subadjacent.detectors.many import assess_each, fit_each
from subadjacent.errors import InputError
from workflow.level import LevelDetector

NAMES = ("press", "drill", "saw")


def frames(rows: int = 160) -> list[pl.DataFrame]:
    """Machines of one shape, of other levels and cycles."""
    time = np.arange(rows)
    found = []
    for number, name in enumerate(NAMES):
        random = np.random.default_rng(number)
        values = np.sin(time[:, None] / (4 + number) + np.arange(3)) * 3**number + 10 * number
        values += 0.1 * random.standard_normal((rows, 3))
        values[120:125, number] += 3 * 3**number
        found.append(
            pl.DataFrame(values, schema=["flow", "heat", "noise"]).with_columns(
                item_id=pl.lit(name)
            )
        )
    return found


def test_the_mean_of_each_is_its_own() -> None:
    rows = pl.DataFrame({"item_id": ["a"] * 8 + ["b"] * 8, "x": [1.0] * 8 + [5.0] * 8})
    one, other = fit_each(LevelDetector(), rows)
    assert (one.entities_, other.entities_) == (("a",), ("b",))
    assert one.models_.of("a").typical_values.tolist() == [1.0]
    # one that it never saw is assessed by what it knows, which is the same
    assert other.models_.of("a").typical_values.tolist() == [5.0]


@pytest.mark.parametrize("rows", [100, 160])
def test_each_says_what_one_by_itself_says(rows: int) -> None:
    alone = frames()
    fitted = fit_each(SubAdjacentDetector(), pl.concat([one[:rows] for one in alone]))
    found = assess_each(fitted, pl.concat(alone))
    for frame, each, assessment in zip(alone, fitted, found, strict=True):
        detector = SubAdjacentDetector().fit(frame[:rows])
        expected = detector.assess(frame)
        np.testing.assert_allclose(each.threshold_, detector.threshold_, rtol=1e-3)
        np.testing.assert_allclose(
            assessment.evidence[0].score, expected.evidence[0].score, rtol=1e-3, atol=2e-4
        )
        assert as_text(assessment.alarms()) == as_text(expected.alarms())
        assert each.online_ is None


def as_text(alarms: list[Any]) -> list[tuple[Any, ...]]:
    return [(one.entity, one.first, one.last, one.sentence) for one in alarms]


def test_rows_of_other_entities_are_refused() -> None:
    alone = frames()
    fitted = fit_each(LevelDetector(), pl.concat(alone[:2]))
    with pytest.raises(InputError, match="entities of the detectors, in their order"):
        assess_each(fitted, pl.concat(alone[1::-1]))


def test_what_is_wrong_with_one_is_said_with_its_name() -> None:
    alone = frames()
    alone[1] = alone[1].with_columns(heat=pl.lit(None, pl.Float64))
    with pytest.raises(InputError, match="'drill'"):
        fit_each(SubAdjacentDetector(), pl.concat(alone))


def test_values_that_are_missing_for_long_are_stood_in_for_by_each_ones_own() -> None:
    rows = pl.DataFrame(
        {"item_id": ["a"] * 40 + ["b"] * 40, "x": [1.0, 2.0] * 20 + [7.0, 9.0] * 20}
    )
    gap = rows.with_columns(
        x=pl.when(pl.int_range(pl.len()).is_between(60, 75)).then(None).otherwise(pl.col("x"))
    )
    one, other = assess_each(fit_each(LevelDetector(), rows), gap)
    assert other.series[0].values[20:36, 0].tolist() == [8.0] * 16
    assert one.series[0].missing is None
