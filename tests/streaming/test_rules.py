"""What a stream was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from live_plant import plant
from subadjacent import AlarmBudget, Conformal, InputError, PCADetector
from subadjacent.streaming.rules import AlarmRules


@pytest.mark.parametrize(
    ("contamination", "interval", "rows"),
    [
        ("auto", None, 5_000),
        (0.01, None, 100),
        ("1/week", 60.0, 7 * 24 * 60),
        (AlarmBudget(2, "1day", "10min"), 60.0, 12 * 60),
        # one alarm a day of rows a day: as many alarms as rows
        ("1/day", 86_400.0, 1),
    ],
)
def test_the_period_is_the_rows_of_one_false_alarm(
    contamination: Any, interval: float | None, rows: float
) -> None:
    found = AlarmRules(contamination=contamination).period(None, None, interval)
    assert found == pytest.approx(rows)


def test_auto_is_what_was_requested_of_the_detector() -> None:
    decision = PCADetector(contamination=0.02).fit(plant(600)).decision
    assert AlarmRules().period(decision, None, None) == pytest.approx(50)
    # what the stream was asked for comes first
    assert AlarmRules(contamination=0.01).period(decision, None, None) == pytest.approx(100)


@pytest.mark.parametrize("contamination", ["x", 0, 0.7, None, Conformal(0.01)])
def test_what_is_no_rate_is_refused(contamination: Any) -> None:
    with pytest.raises(InputError, match=r"^contamination must be"):
        AlarmRules(contamination=contamination)


def test_rules_say_what_they_count() -> None:
    by_time, by_row, auto = (AlarmRules(contamination=one) for one in ("1/week", 0.1, "auto"))
    assert (by_time.by_time, by_row.by_time, auto.by_time) == (True, False, False)
    assert (by_time.is_share_of_rows, by_row.is_share_of_rows) == (False, True)
    assert auto.is_auto
    assert not by_row.is_auto
