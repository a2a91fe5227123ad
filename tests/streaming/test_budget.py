"""Never more alarms than the budget, in any period."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from subadjacent.streaming.budget import RollingBudget, as_text

from subadjacent import AlarmBudget, InputError, Quantile

DAY = 86400.0


def test_the_bar_rises_as_the_budget_runs_out() -> None:
    budget = RollingBudget("2/day")
    assert budget.min_severity(0) == 1
    budget.spend(0)
    assert budget.min_severity(10) == 2
    budget.spend(10)
    assert budget.min_severity(20) == math.inf
    assert budget.min_severity(DAY - 1) == math.inf
    assert budget.min_severity(DAY) == 2
    assert budget.min_severity(DAY + 10) == 1


def test_a_number_is_one_alarm_in_so_many_rows() -> None:
    budget = RollingBudget(0.01)
    assert not budget.by_time
    budget.spend(5)
    assert budget.min_severity(104) == math.inf
    assert budget.min_severity(105) == 1


def test_without_a_budget_there_is_no_limit() -> None:
    budget = RollingBudget()
    for row in range(50):
        budget.spend(row)
    assert budget.min_severity(50) == 1
    assert not budget.limited
    assert not budget.by_time


def test_parts_of_an_alarm_are_whole_ones_in_a_longer_time() -> None:
    budget = RollingBudget("1.5 per day")
    for now in (0, 1, 2):
        assert budget.min_severity(now) < math.inf
        budget.spend(now)
    assert budget.min_severity(2 * DAY - 1) == math.inf
    assert budget.min_severity(2 * DAY) < math.inf


def test_an_alarm_budget_means_the_same() -> None:
    wanted = AlarmBudget(3, "2days")
    assert as_text(wanted) == "3/172800s"
    assert RollingBudget(wanted)._period == RollingBudget(as_text(wanted))._period == 2 * DAY


@pytest.mark.parametrize(
    "wanted", ["often", "1/fortnite", "0/day", "5000/day", 0, -3, True, 2.5, object(), "1/0s"]
)
def test_what_is_no_budget_is_refused(wanted: Any) -> None:
    with pytest.raises(InputError, match=r"^contamination must be .* for a stream; got"):
        RollingBudget(wanted)


def test_a_refusal_says_what_replaces_a_number_of_rows_or_a_threshold_object() -> None:
    with pytest.raises(InputError, match=r"for one alarm in 5,000 rows, give 0\.0002$"):
        RollingBudget(5000)
    with pytest.raises(InputError, match="fit a detector with a threshold object"):
        RollingBudget(Quantile(0.9))  # type: ignore[arg-type]


def test_a_thousand_alarms_are_the_most_that_a_budget_may_have() -> None:
    assert RollingBudget("1000/day").min_severity(0) == 1
    with pytest.raises(InputError, match="at most 1,000 alarms"):
        RollingBudget("1001/day")


def test_no_more_is_remembered_than_the_budget_has_alarms() -> None:
    budget = RollingBudget("2/100s")
    for now in range(0, 5_000, 100):
        budget.spend(now)
    assert budget.state() == [4_800, 4_900]


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 50), st.floats(1, 100)), max_size=100),
    st.integers(0, 100),
)
def test_no_period_has_more_than_the_budget(
    alarms: int, rows: list[tuple[int, float]], stop: int
) -> None:
    budget, opened = RollingBudget(f"{alarms}/100s"), []
    for number, now in enumerate(np.cumsum([step for step, _ in rows]).tolist()):
        if number == stop:
            again = RollingBudget(f"{alarms}/100s")
            again.restore(budget.state())
            budget = again
        if rows[number][1] >= budget.min_severity(now):
            budget.spend(now)
            opened.append(now)
    for start in opened:
        assert sum(start <= now < start + 100 for now in opened) <= alarms
