"""Normal processes: what each of them is, and that nothing else is in them."""

from __future__ import annotations

import numpy as np
import pytest

from reproduce.cases.normal import (
    DWELL,
    FACTORS,
    HARMONICS,
    NOISE,
    NORMAL,
    STATIONARY,
    WANDERING,
    normal_rows,
)
from subadjacent.data.synthetic import Floats
from subadjacent.errors import InputError


def likeness(rows: Floats, apart: int = 1) -> float:
    """The mean correlation of channels with themselves, so many rows later."""
    centred = rows - rows.mean(axis=0)
    products = (centred[apart:] * centred[:-apart]).mean(axis=0)
    return float((products / rows.var(axis=0)).mean())


@pytest.mark.parametrize("process", NORMAL)
def test_rows_are_as_many_as_asked_for_and_the_same_for_a_seed(process: str) -> None:
    rows = normal_rows(process, 200, 7, seed=3)
    assert rows.shape == (200, 7)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all()
    np.testing.assert_array_equal(rows, normal_rows(process, 200, 7, seed=3))
    assert not np.array_equal(rows, normal_rows(process, 200, 7, seed=4))
    assert normal_rows(process, 1, 1).shape == (1, 1)


@pytest.mark.parametrize("process", STATIONARY)
def test_the_second_half_is_like_the_first(process: str) -> None:
    rows = normal_rows(process, 40_000, 5, seed=1)
    first, second = rows[:20_000], rows[20_000:]
    deviation = rows.std(axis=0)
    np.testing.assert_allclose(
        first.mean(axis=0) / deviation, second.mean(axis=0) / deviation, atol=0.2
    )
    np.testing.assert_allclose(first.std(axis=0), second.std(axis=0), rtol=0.2)


@pytest.mark.parametrize(
    ("process", "alike"),
    [("white", 0), ("AR 0.5", 0.5), ("AR 0.95", 0.95), ("counts", 0), ("heavy tails", 0)],
)
def test_a_row_is_as_much_like_the_one_before_as_said(process: str, alike: float) -> None:
    rows = normal_rows(process, 20_000, 4)
    assert likeness(rows) == pytest.approx(alike, abs=0.03)
    assert likeness(rows, 2) == pytest.approx(alike**2, abs=0.05)


def test_autoregressive_rows_vary_as_much_from_the_first_one_on() -> None:
    rows = normal_rows("AR 0.95", 200, 4000)
    assert rows[0].std() == pytest.approx(1, abs=0.05)
    assert rows[-1].std() == pytest.approx(1, abs=0.05)


def test_counts_are_whole_and_tails_heavy() -> None:
    counts = normal_rows("counts", 5000, 4)
    np.testing.assert_array_equal(counts, np.round(counts))
    # of counts, variance and mean are one
    np.testing.assert_allclose(counts.var(axis=0), counts.mean(axis=0), rtol=0.15)
    assert np.abs(normal_rows("heavy tails", 5000, 4)).max() > 15


def test_cycles_are_few_waves_and_noise() -> None:
    rows = normal_rows("cycles", 6000, 30)
    variances = np.linalg.eigvalsh(np.cov(rows, rowvar=False))[::-1]
    # a sine and a cosine for each
    assert (variances > 2 * NOISE**2).sum() == 2 * HARMONICS
    assert variances[-1] == pytest.approx(NOISE**2, rel=0.2)


def test_factors_are_few() -> None:
    variances = np.linalg.eigvalsh(np.cov(normal_rows("factors", 6000, 30), rowvar=False))[::-1]
    assert (variances > 2).sum() == FACTORS


def test_regimes_last_for_a_while_and_all_channels_switch_together() -> None:
    rows = normal_rows("regimes", 50_000, 400, seed=2)
    # levels differ so much over so many channels that noise cannot hide a switch
    moved = np.abs(np.diff(rows, axis=0)).mean(axis=1)
    switches = int((moved > 1.6).sum())
    assert 50_000 / switches == pytest.approx(DWELL, rel=0.1)


def test_what_wanders_does_not_stay() -> None:
    assert list(WANDERING) == ["clocks", "random walk"]
    walk = normal_rows("random walk", 10_000, 50)
    assert np.diff(walk, axis=0).std() == pytest.approx(1, abs=0.01)
    assert walk[-1].std() > 50
    # two halves of clocks are related differently
    clocks = normal_rows("clocks", 600, 40)
    halves = [np.corrcoef(half, rowvar=False) for half in (clocks[:300], clocks[300:])]
    assert np.abs(halves[0] - halves[1]).max() > 0.5


def test_other_processes_are_refused() -> None:
    with pytest.raises(InputError, match=r"process must be one of white, .*; got 'pink'"):
        normal_rows("pink", 10, 2)
    with pytest.raises(InputError, match="channels"):
        normal_rows("white", 10, 0)
    with pytest.raises(InputError, match="n must"):
        normal_rows("white", 0, 2)
