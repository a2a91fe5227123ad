"""The bulk of a channel: by hand, of several tables, and channel by channel where rows are many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from subadjacent.data import scaling as module
from subadjacent.data.scaling import bulk


def test_a_fiftieth_of_the_rows_lies_outside_on_either_side_by_hand() -> None:
    # 101 values: two lie below 2, two above 98
    values = np.arange(101.0)[:, None]
    found = bulk([values])
    assert found.low.tolist() == [2]
    assert found.high.tolist() == [98]
    wider = found.wider_by(0.5)
    assert wider.low.tolist() == [2 - 48]
    assert wider.high.tolist() == [98 + 48]


def test_a_bulk_of_one_value_has_no_bounds() -> None:
    flag = np.zeros((1000, 2))
    flag[::100, 0] = 1
    flag[:, 1] = np.arange(1000)
    wider = bulk([flag]).wider_by(1.0)
    assert (wider.low[0], wider.high[0]) == (-np.inf, np.inf)
    assert np.isfinite([wider.low[1], wider.high[1]]).all()


@pytest.mark.parametrize("at_a_time", [1, 250, 600, 10**6])
@pytest.mark.parametrize("dtype", [bool, np.int16, np.float32])
def test_rows_of_all_tables_count_however_many_are_sorted_at_once(
    at_a_time: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SORTED_VALUES", at_a_time)
    rng = np.random.default_rng(0)
    parts = [(40 * rng.normal(size=(rows, 5))).astype(dtype) for rows in (200, 1, 49)]
    found = bulk(parts)
    together = np.concatenate(parts).astype(np.float64)
    np.testing.assert_allclose(found.low, np.quantile(together, 0.02, axis=0))
    np.testing.assert_allclose(found.high, np.quantile(together, 0.98, axis=0))
