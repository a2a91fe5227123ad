"""Evidence of consecutive stretches, as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from subadjacent.scoring.evidence import Evidence, Reach, joined


def evidence(rows: int, start: float, expected: bool = True) -> Evidence:
    values = start + np.arange(2.0 * rows).reshape(rows, 2)
    traces = {"level": -values[:, 1], "error": values[:, 1]}
    return Evidence(values[:, 0], values, 10 + values if expected else None, traces, ("level",))


def test_two_stretches_by_hand() -> None:
    found = joined([evidence(2, 0.0), evidence(1, 100.0)])
    assert found.score.tolist() == [0.0, 2.0, 100.0]
    assert found.by_channel.tolist() == [[0.0, 1.0], [2.0, 3.0], [100.0, 101.0]]
    wanted: Any = found.expected
    assert wanted.tolist() == [[10.0, 11.0], [12.0, 13.0], [110.0, 111.0]]
    assert {name: rows.tolist() for name, rows in found.traces.items()} == {
        "level": [-1.0, -3.0, -101.0],
        "error": [1.0, 3.0, 101.0],
    }
    assert found.views == ("level",)


def test_a_single_stretch_is_left_as_it_is() -> None:
    one = evidence(3, 0.0)
    assert joined([one]) is one


def test_where_a_stretch_expects_nothing_nothing_is_expected() -> None:
    assert joined([evidence(2, 0.0), evidence(1, 5.0, expected=False)]).expected is None


def test_a_model_has_no_views_unless_it_names_some() -> None:
    values = np.zeros((2, 1))
    assert Evidence(values[:, 0], values, None, {"error": values[:, 0]}).views == ()


def test_most_models_score_a_piece_from_any_row_on() -> None:
    assert Reach(5, 0) == (5, 0, 1)
