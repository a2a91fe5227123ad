"""A table of features and sums of products say the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ridge.waves import Rows, noise, wave
from subadjacent.ridge.axes import principal_axes
from subadjacent.ridge.band import BandRidge
from subadjacent.ridge.cases import FewCases, ManyCases
from subadjacent.ridge.fit import fit_ridge
from subadjacent.ridge.neighbours import Neighbours

BOTH = Neighbours(2, 4, 4)


def blank(parts: list[Rows], neighbours: Neighbours = BOTH, *, local: bool = False) -> BandRidge:
    return BandRidge(neighbours, principal_axes(parts), np.zeros((0, 0), np.float32), local)


def test_cases_are_the_rows_with_all_their_neighbours_by_hand() -> None:
    # of ten rows the two in the middle, of eight none, of nine one
    parts = [np.full((rows, 1), float(rows), np.float32) for rows in (10, 8, 9)]
    cases = FewCases(blank(parts), parts)
    assert cases.targets.ravel().tolist() == [10.0, 10.0, 9.0]
    assert cases.features.shape == (3, 7)
    np.testing.assert_allclose(np.abs(cases.features[:, 0]), [10.0, 10.0, 9.0])
    assert cases.features[:, -1].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("neighbours", [BOTH, Neighbours(2, 4, 0), Neighbours(5, 0, 30)], ids=str)
@pytest.mark.parametrize("chunk", [40, 65_536])
def test_few_and_many_cases_agree(
    neighbours: Neighbours, local: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.ridge.cases.CHUNK", chunk)
    for lengths in ((70, 3, 1500), (1, 90, 90)):
        check_agreement(lengths, neighbours, local)


def check_agreement(lengths: tuple[int, ...], neighbours: Neighbours, local: bool) -> None:
    parts = [wave(rows, seed=rows) for rows in lengths]
    ridge = blank(parts, neighbours, local=local)
    few = FewCases(ridge, parts)
    total = len(few.features)
    edges = {0, total // 7, total // 2, total - 1, total}
    many = ManyCases(ridge, parts, edges, most=10**6)
    weights = np.random.default_rng(0).normal(size=(few.features.shape[1], 2)) / 10
    for first, last in [*pairwise(sorted(edges)), (0, total), (total // 7, total - 1)]:
        one, other = few.moments(first, last), many.moments(first, last)
        size = np.abs(one.features).max()
        np.testing.assert_allclose(one.features, other.features, atol=1e-5 * size)
        np.testing.assert_allclose(one.targets, other.targets, atol=1e-5 * size)
        np.testing.assert_allclose(one.squares, other.squares, rtol=1e-5)
        assert one.rows == other.rows == last - first
        np.testing.assert_allclose(
            few.errors(first, last, weights), many.errors(first, last, weights), rtol=1e-3
        )


def test_of_many_cases_some_between_all_edges_are_looked_at() -> None:
    parts = [noise(3000)]
    ridge = blank(parts)
    cases = ManyCases(ridge, parts, {0, 500, 520, 2992}, most=900)
    # a third each, as far as there are as many
    assert [cases.moments(*pair).rows for pair in pairwise(cases.edges)] == [300, 20, 300]


def ramp(rows: int, channels: int) -> Rows:
    return np.linspace(-1.7, 1.7, rows)[:, None].repeat(channels, 1).astype(np.float32)


@pytest.mark.parametrize(("rows", "channels"), [(200, 5), (1_900, 1), (4_200, 5)])
@pytest.mark.parametrize("kind", ["ramp", "alike", "still", "spike", "step", "walk"])
def test_rows_whose_features_are_alike_can_be_learned_from(
    kind: str, rows: int, channels: int
) -> None:
    """Sums of few rows are kept in single precision: the least penalty must do all the same."""
    values = ramp(rows, channels)
    if kind == "alike":
        values = wave(rows, 1, noise=0.0).repeat(channels, 1)
    elif kind == "still":
        values[:] = 0.0
    elif kind == "spike":
        values[:] = 0.0
        values[rows // 2] = 40.0
    elif kind == "step":
        values = np.sign(values)
    elif kind == "walk":
        values = np.cumsum(noise(rows, channels), axis=0)
        values = (values - values.mean(axis=0)) / values.std(axis=0)
    for local in (False, True):
        found = fit_ridge(
            [values], Neighbours(5, 30, 30), principal_axes([values]), local=local, penalties=(1.0,)
        )
        assert found is not None
        assert np.isfinite(found.model.weights).all()
        assert np.isfinite(found.unseen[0]).all()
