"""What each view is there for: it catches what the others do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from methods.views.combining import (
    Floats,
    Rows,
    combined,
    fitted,
    part_surprises,
)
from subadjacent.methods.views.entity import EntityViews
from subadjacent.methods.views.fit import fit_views
from subadjacent.methods.views.settings import ViewSettings

FULL = ViewSettings()


@pytest.fixture(scope="module")
def entity() -> EntityViews:
    return fitted()


def standing_out(each: Floats, rows: slice) -> float:
    """How far rows are above all others, in deviations of these."""
    others = np.delete(each, rows)
    return float((each[rows].mean() - others.mean()) / others.std())


def test_companions_catch_a_broken_relation_that_no_channel_shows() -> None:
    def pair(rows: int, seed: int) -> Rows:
        rng = np.random.default_rng(seed)
        cause = rng.normal(size=(rows, 1))
        return (cause + 0.1 * rng.normal(size=(rows, 2))).astype(np.float32)

    learned = fit_views([[pair(4000, 0)]], FULL)[0].entity
    rows, broken = pair(1500, 1), slice(700, 740)
    # from another time: each channel as it always is, and the two at odds
    rows[broken, 1] = pair(1500, 2)[broken, 1]
    parts = part_surprises(learned, rows)
    for view in ("level", "rhythm"):
        assert abs(standing_out(parts[view, view].surprise.mean(axis=1), broken)) < 1
        assert standing_out(parts[view, "other channels"].surprise.mean(axis=1), broken) > 3
    assert standing_out(combined(learned, rows).rows, broken) > 1.5


def test_the_slow_rhythm_catches_a_missing_beat_that_the_band_does_not() -> None:
    def beats(rows: int, seed: int) -> Rows:
        # a bump of some ten rows, every hundred
        phase = (np.arange(rows) % 100 - 50) / 4
        noise = 0.05 * np.random.default_rng(seed).normal(size=(rows, 1))
        return (3 * np.exp(-(phase**2))[:, None] + noise).astype(np.float32)

    learned = fit_views([[beats(5000, 0)]], FULL)[0].entity
    rows, missing = beats(2000, 1), slice(1046, 1055)
    rows[1020:1080] = 0.05 * np.random.default_rng(2).normal(size=(60, 1))
    parts = part_surprises(learned, rows)
    slow = parts["slow rhythm", "slow rhythm"].surprise
    assert slow[missing].mean() > 10 * slow[200:900].mean()
    assert slow[missing].mean() > 5 * parts["rhythm", "rhythm"].surprise[missing].mean()


def test_the_spread_catches_a_noise_that_has_tripled() -> None:
    rng = np.random.default_rng(8)
    learned = fit_views([[rng.normal(size=(4000, 2)).astype(np.float32)]], FULL)[0].entity
    rows, loud = rng.normal(size=(1500, 2)).astype(np.float32), slice(700, 800)
    rows[loud] *= 3
    deaf = replace(
        learned,
        forecasting={
            name: replace(
                view,
                alone=replace(view.alone, spread=np.full(2, 1e9)),
                across=replace(view.across, spread=np.full(2, 1e9)),
            )
            for name, view in learned.forecasting.items()
        },
    )
    with_it, without = combined(learned, rows), combined(deaf, rows)
    assert with_it.values[720:780].min() > without.values[720:780].min()
    assert standing_out(with_it.rows, loud) > 1.3 * standing_out(without.rows, loud) > 0
    # and where nothing has changed it is silent
    np.testing.assert_allclose(
        with_it.rows[100:600].mean(), without.rows[100:600].mean(), rtol=0.05
    )
