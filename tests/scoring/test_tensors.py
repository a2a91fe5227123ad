"""The tensor twins: by hand, then against what they are twins of, at awkward lengths."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from subadjacent.scoring import paper
from subadjacent.scoring.moving import smooth
from subadjacent.scoring.tensors import (
    FORMS,
    blockwise,
    sliding_sums,
    tail_surprise,
)
from subadjacent.scoring.tensors import smooth as smooth_tensor


def noise(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).exponential(size=n)


def test_sums_of_three_neighbours_by_hand() -> None:
    values = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0])
    assert sliding_sums(values, 3).tolist() == [7.0, 14.0, 28.0]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 13])
def test_sums_are_those_of_a_loop(length: int) -> None:
    values = noise(13)
    expected = [values[at : at + length].sum() for at in range(13 - length + 1)]
    np.testing.assert_allclose(sliding_sums(torch.from_numpy(values), length), expected, rtol=1e-14)


def test_a_huge_value_is_forgotten_once_it_is_out() -> None:
    values = torch.tensor([1e20, 1.0, 2.0, 3.0], dtype=torch.float64)
    assert sliding_sums(values, 2)[1:].tolist() == [3.0, 5.0]


def test_smoothing_by_hand() -> None:
    scores = torch.tensor([3.0, 6.0, 9.0, 12.0], dtype=torch.float64)
    assert smooth_tensor(scores, 3, before=0.0).tolist() == [1.0, 3.0, 6.0, 9.0]


@pytest.mark.parametrize("n", [1, 2, 19, 20, 21, 101])
@pytest.mark.parametrize("length", [1, 5, 20])
def test_smoothing_is_that_of_the_library(n: int, length: int) -> None:
    scores = noise(n)
    found = smooth_tensor(torch.from_numpy(scores), length, before=0.7)
    np.testing.assert_allclose(found, smooth(scores, length, before=0.7), rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 2, 10, 11, 12, 97])
@pytest.mark.parametrize("memory", [1, 2, 31])
def test_dynamic_scores_are_those_of_the_library(form: str, n: int, memory: int) -> None:
    scores, warmup = noise(n), noise(memory, seed=1)
    scores[n // 2] = 50.0
    found = FORMS[form](torch.from_numpy(scores), torch.from_numpy(warmup))
    expected = paper.dynamic(scores, warmup, form)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


def test_every_form_of_the_library_has_its_twin() -> None:
    assert FORMS.keys() == paper.DYNAMIC.keys()


def test_the_tail_is_right_from_far_below_to_far_above() -> None:
    z = np.concatenate([np.linspace(-40, 40, 4001), [0.0, 1e-9, 1e3, 1e6, -1e6]])
    found = tail_surprise(torch.from_numpy(z)).numpy()
    # far below the mean it is less than what 1 can be told from
    np.testing.assert_allclose(found, paper.tail_surprise(z), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("temperature", [0.0, 3.0])
@pytest.mark.parametrize("n", [1, 4, 5, 11])
def test_blocks_are_weighed_one_by_one(n: int, temperature: float) -> None:
    error, contribution = (torch.from_numpy(noise(n, seed)) for seed in (0, 1))
    parts = zip(error.split(5), contribution.split(5), strict=True)
    expected = torch.cat([paper.weighted(*part, temperature) for part in parts])
    torch.testing.assert_close(blockwise(error, contribution, 5, temperature), expected)
