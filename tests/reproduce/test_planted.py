"""Departures planted into series: where they should be, as large as promised, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmark_files import SHARED
from reproduce.cases.backgrounds import BACKGROUNDS, KEPT_BACK_BACKGROUNDS
from reproduce.cases.planted import (
    KEPT_BACK_KINDS,
    LONG_ROWS,
    PLANTED_KINDS,
    RETURN,
    SHARE_LEFT,
    PlantedCase,
    planted_case,
)
from subadjacent.errors import DataNotFound, InputError

MOVES = ("spike", "step", "shift", RETURN, "ramp")


def planted(kind: str, background: str, seed: int = 1) -> PlantedCase | None:
    try:
        return planted_case(kind, background, seed, SHARED)
    except DataNotFound as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_departures_change_their_rows_of_their_channel_and_no_others(background: str) -> None:
    cases = {kind: planted(kind, background) for kind in PLANTED_KINDS}
    # what every series can do
    assert {kind for kind, case in cases.items() if case is not None} >= {"spike", "missing"}
    for kind, case in cases.items():
        if case is not None:
            check(kind, background, case)


def check(kind: str, background: str, case: PlantedCase) -> None:
    drawn = case.background
    # the background is drawn first, with the same generator
    rng = np.random.default_rng([1, *kind.encode(), *background.encode()])
    before = BACKGROUNDS[background](rng, SHARED).values
    channel = drawn.names.index(case.channel)
    differ = ~np.isclose(drawn.values, before, equal_nan=True)
    assert set(np.flatnonzero(differ.any(axis=0))) == {channel}
    rows = np.flatnonzero(differ[:, channel]) - drawn.fitted
    first, last = case.first, case.last
    if kind == RETURN:
        # it was away before
        first, last = case.first - LONG_ROWS, case.first - 1
    assert 0 <= first <= rows[0] <= rows[-1] <= last < len(before) - drawn.fitted
    changed = drawn.values[drawn.fitted + rows, channel]
    assert np.allclose(changed, changed.round(drawn.decimals[channel]), equal_nan=True)
    train = drawn.values[: drawn.fitted, channel]
    if train.min() >= 0:
        assert not changed.min() < 0
    if kind in MOVES:
        move = changed - before[drawn.fitted + rows, channel]
        away = case.direction * (-1 if kind == RETURN else 1)
        assert (np.sign(move) == away).mean() > 0.9
        assert np.abs(move).max() >= SHARE_LEFT * case.size > 0
    else:
        assert case.direction == 0


def test_the_same_seed_plants_the_same() -> None:
    one, same, other = (planted("step", "taxi", seed) for seed in (3, 3, 4))
    assert one is not None is not same
    assert np.array_equal(one.background.values, same.background.values)
    assert other is not None
    assert not np.array_equal(one.background.values, other.background.values)


@pytest.mark.parametrize("background", [*BACKGROUNDS, *KEPT_BACK_BACKGROUNDS])
def test_a_background_has_names_decimals_and_cycles_of_every_channel(background: str) -> None:
    draw = (BACKGROUNDS | KEPT_BACK_BACKGROUNDS)[background]
    try:
        drawn = draw(np.random.default_rng(0), SHARED)
    except DataNotFound as error:
        pytest.skip(str(error))
    rows, channels = drawn.values.shape
    assert channels == len(drawn.names) == len(drawn.decimals) == len(drawn.cycles)
    assert 100 < drawn.fitted < rows - 80
    assert np.isfinite(drawn.values).all()
    for column, decimals in zip(drawn.values.T, drawn.decimals, strict=True):
        assert np.allclose(column, column.round(decimals), rtol=1e-9)


def test_what_is_kept_back_is_not_drawn_by_itself() -> None:
    assert not set(PLANTED_KINDS) & set(KEPT_BACK_KINDS)
    assert not set(BACKGROUNDS) & set(KEPT_BACK_BACKGROUNDS)
    assert planted("sag", "taxi") is not None


def test_unknown_names_and_absent_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'spike'"):
        planted_case("nothing", "taxi", 0, tmp_path)
    with pytest.raises(InputError, match="'taxi'"):
        planted_case("spike", "nowhere", 0, tmp_path)
    with pytest.raises(DataNotFound, match=r"web\.npz"):
        planted_case("spike", "web", 0, tmp_path)
