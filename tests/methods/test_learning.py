"""Faults are not learned from, and yet found: with a method that counts what it is given."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from subadjacent.data.entities import PerEntity
from subadjacent.data.series import TrainSeries
from subadjacent.decision.evidence import Array, Evidence, Reach
from subadjacent.methods.learning import learn
from subadjacent.methods.method import Fitted, Method, Model, State
from subadjacent.runtime import Runtime


@dataclass(frozen=True)
class Largest(Model):
    """Scores a row by the largest value from so many rows before it to so many after it."""

    before: int
    after: int | None

    @property
    def reach(self) -> Reach:
        return Reach(self.before, self.after)

    @property
    def typical_values(self) -> Array:
        return np.array([1.0, 6.0])

    def assess(self, rows: Array) -> Evidence:
        n = len(rows)
        after = n if self.after is None else self.after
        score = [rows[max(r - self.before, 0) : r + after + 1].max() for r in range(n)]
        return Evidence(np.array(score, dtype=float), rows, None, {})

    def state(self) -> State:
        raise NotImplementedError


@dataclass(frozen=True)
class Recording(Method):
    """Keeps what it was given; what it had not seen scores 5 throughout."""

    given: list[TrainSeries]
    before: int = 0
    after: int | None = 0

    def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:  # noqa: ARG002
        self.given.extend(series)
        scores = [np.full(len(one), 5.0) for one in series]
        model: Model = Largest(self.before, self.after)
        return Fitted(PerEntity(model, {}), scores, np.concatenate(scores))

    def restore(self, state: State, channels: int) -> Model:
        raise NotImplementedError


def rows(*bad: int) -> TrainSeries:
    values = np.tile([[1.0, 6.0], [2.0, 7.0]], (200, 1))
    values[list(bad), 1] = 9999
    return TrainSeries(values, ("calm", "spoiled"), starts=(0, 100))


def test_a_fault_is_not_learned_from_and_scored_as_it_came_by_hand() -> None:
    given: list[TrainSeries] = []
    fitted, *_ = learn(Recording(given, before=3, after=1), [rows(40)], Runtime())
    assert given[0].values.max() == 7
    assert given[0].starts == (0, 100)
    # it reaches the row before it and three after it; rows beyond are as they were
    wanted = np.full(400, 5.0)
    wanted[39:44] = 9999
    assert fitted.scores[0].tolist() == wanted.tolist()
    assert fitted.held_out.tolist() == [5.0] * 400


def test_a_row_near_a_fault_scores_no_lower_than_without_it() -> None:
    class Blind(Recording):
        def fit(self, series: Sequence[TrainSeries], run: Runtime) -> Fitted:
            fitted = super().fit(series, run)
            return fitted._replace(scores=[one + 1e6 for one in fitted.scores])

    fitted, *_ = learn(Blind([], before=3, after=1), [rows(40)], Runtime())
    assert set(fitted.scores[0]) == {1e6 + 5}


@pytest.mark.parametrize(
    ("bad", "before", "after", "reached"),
    [
        ((99,), 2, 2, range(97, 100)),  # not across the end of the segment
        ((100,), 2, 2, range(100, 103)),
        ((399,), 2, 0, range(399, 400)),
        ((0,), 0, 0, range(1)),
        ((150,), 0, None, range(100, 151)),  # one that needs the whole segment
        ((150, 152), 3, 0, range(150, 156)),
    ],
)
def test_a_fault_reaches_as_far_as_the_model_looks(
    bad: tuple[int, ...], before: int, after: int | None, reached: range
) -> None:
    fitted, *_ = learn(Recording([], before, after), [rows(*bad)], Runtime())
    assert np.flatnonzero(fitted.scores[0] > 100).tolist() == list(reached)


def test_series_without_faults_are_passed_on_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    given: list[TrainSeries] = []
    series = rows()
    with caplog.at_level(logging.WARNING):
        fitted, *_ = learn(Recording(given), [series, rows(1)], Runtime())
    assert given[0] is series
    assert set(fitted.scores[0]) == {5.0}
    assert len(caplog.messages) == 1


def test_faults_are_named(caplog: pytest.LogCaptureFixture) -> None:
    named = TrainSeries(rows(40, 41).values, ("calm", "spoiled"), entity="pump")
    with caplog.at_level(logging.WARNING):
        learn(Recording([]), [named], Runtime())
    (message,) = caplog.messages
    assert message == (
        "2 of 400 values of 'spoiled' of pump lie far from all others, the first of them 9999.0 "
        "at 40: they are taken for faults and not learned from"
    )


def test_faults_of_many_channels_are_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    values = np.sin(np.arange(400)[:, None] / [5.0, 7.0, 9.0])
    values[40, 0] = values[50, 2] = values[60, 2] = 9999.0
    with caplog.at_level(logging.WARNING):
        learn(Recording([]), [TrainSeries(values)], Runtime())
    (message,) = caplog.messages
    # the channel that has most of them is named
    assert message.startswith("2 of 400 values of 'channel_2', and some of 1 more channel, lie far")
    assert "9999.0 at 50" in message


def holed(*bad: int) -> TrainSeries:
    """Rows 20 to 59 without a value of their own, a large one in its place."""
    whole = rows(*bad)
    missing = np.zeros(whole.values.shape, dtype=bool)
    missing[20:60, 0] = True
    whole.values[20:60, 0] = 777.0
    return replace(whole, missing=missing)


def test_what_is_missing_for_long_is_not_learned_from_by_hand() -> None:
    given: list[TrainSeries] = []
    fitted, *_ = learn(Recording(given, before=3, after=1), [holed()], Runtime())
    assert len(given[0]) == 360
    assert given[0].values.max() == 7
    assert given[0].starts == (0, 20, 60)
    # the rows left out are scored by themselves, with what is typical in place of what is missing
    wanted = np.full(400, 5.0)
    wanted[20:60] = 7
    assert fitted.scores[0].tolist() == wanted.tolist()
    # and say nothing of what is normal
    assert fitted.held_out.tolist() == [5.0] * 360


def test_faults_beside_what_is_missing_are_found_where_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    given: list[TrainSeries] = []
    with caplog.at_level(logging.WARNING):
        fitted, *_ = learn(Recording(given, before=3, after=1), [holed(61)], Runtime())
    assert given[0].values.max() == 7
    # one row before it, three after; not across the end of what is missing
    assert np.flatnonzero(fitted.scores[0] > 100).tolist() == [60, 61, 62, 63, 64]
    missing, fault = caplog.messages
    assert missing == (
        "40 of 400 values of 'calm' are missing in gaps longer than fill_limit, the first of them "
        "at 20: these rows are alarms, and not learned from"
    )
    assert fault.startswith("1 of 400 values of 'spoiled' lie far")
    assert "9999.0 at 61" in fault


def test_where_few_rows_have_all_values_all_are_learned_from(
    caplog: pytest.LogCaptureFixture,
) -> None:
    series, given = holed(), list[TrainSeries]()
    assert series.missing is not None
    series.missing[100:300, 1] = True
    with caplog.at_level(logging.WARNING):
        fitted, *_ = learn(Recording(given), [series], Runtime())
    assert caplog.messages[0].endswith("too many to leave out: learned from with gaps filled")
    assert len(given[0]) == 400
    assert fitted.scores[0].tolist() == [5.0] * 400
