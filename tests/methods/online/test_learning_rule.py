"""Which rows are learned from: all but those of an event."""

from __future__ import annotations

import numpy as np

from subadjacent.methods.online.learning_rule import (
    ADAPT_AFTER,
    AFTERMATH_ROWS,
    CLOSE_AFTER,
    LearningRule,
)


def severities(**by_row: float) -> np.ndarray:
    rows = np.zeros(400)
    for name, severity in by_row.items():
        rows[int(name.removeprefix("row"))] = severity
    return rows


def test_an_event_is_not_learned_from_until_it_is_over() -> None:
    new, ongoing = severities(row5=1.2), severities(row9=0.8, row20=0.6)
    rule = LearningRule()
    normal, goes_on, accepted = rule.follow(0, new[:100], ongoing[:100], may_accept=True)
    # row 20 is below 0.7: the last high row is the ninth
    assert np.flatnonzero(~normal).tolist() == list(range(5, 9 + CLOSE_AFTER + 1))
    assert np.flatnonzero(goes_on).tolist() == [5, 9]
    assert accepted is None


def test_after_a_strong_event_its_aftermath_does_not_keep_it_going() -> None:
    new, ongoing = severities(row5=3.0), severities(row20=1.0, row30=1.3)
    normal = LearningRule().follow(0, new[:100], ongoing[:100], may_accept=True).normal
    # 0.4 of 3 is 1.2: row 20 is no part of it, row 30 is
    assert np.flatnonzero(~normal)[-1] == 30 + CLOSE_AFTER
    # also where it became that strong later
    grown = severities(row5=1.1, row6=3.0)
    ongoing = severities(row20=1.0)
    normal = LearningRule().follow(0, grown[:100], ongoing[:100], may_accept=True).normal
    assert np.flatnonzero(~normal)[-1] == 6 + CLOSE_AFTER
    # later on in a long event, 0.7 is enough
    ongoing = np.where(np.arange(400) < 5 + AFTERMATH_ROWS + 1, 1.3, 0.0)
    ongoing[110] = 0.8
    normal = LearningRule().follow(0, new, ongoing, may_accept=False).normal
    assert np.flatnonzero(~normal)[-1] == 110 + CLOSE_AFTER


def test_what_lasts_is_the_new_normal_where_that_is_allowed() -> None:
    new, ongoing = severities(row5=1.2), np.ones(400)
    rule = LearningRule()
    assert rule.follow(0, new[:310], ongoing[:310], may_accept=False).accepted is None
    normal, goes_on, accepted = rule.follow(310, new[310:316], ongoing[310:316], may_accept=True)
    assert (accepted, normal.any(), goes_on.all()) == (5, False, True)
    assert ADAPT_AFTER <= 316 - 5
    assert rule.follow(316, new[316:], ongoing[316:], may_accept=True).normal.all()


def test_how_long_it_must_last_can_be_set() -> None:
    new, ongoing = severities(row5=1.2), np.ones(400)
    for after, rows, accepted in ((50, 54, None), (50, 55, 5), (None, 400, None)):
        rule = LearningRule(adapt_after=after)
        found = rule.follow(0, new[:rows], ongoing[:rows], may_accept=True)
        assert found.accepted == accepted


def test_rows_one_by_one_and_at_once_are_followed_alike_and_a_state_goes_on() -> None:
    rng = np.random.default_rng(3)
    new, ongoing = rng.exponential(0.18, (2, 2_000))
    whole, single = LearningRule(), LearningRule()
    normal = whole.follow(0, new, ongoing, may_accept=False).normal
    assert 0.1 < normal.mean() < 0.95
    found = []
    for row in range(len(new)):
        here = slice(row, row + 1)
        found += single.follow(row, new[here], ongoing[here], may_accept=False).normal.tolist()
        state = single.state()
        single = LearningRule()
        single.restore(state)
    assert found == normal.tolist()


def test_an_event_that_a_user_accepts_is_over() -> None:
    rule = LearningRule()
    rule.follow(0, np.array([2.0]), np.array([2.0]), may_accept=True)
    rule.end()
    assert rule.follow(1, np.zeros(3), np.ones(3), may_accept=True).normal.all()
