"""Eq. 6, and Eq. 7 in its three forms: by hand, against loops, finite in every corner."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

from subadjacent.errors import InputError
from subadjacent.methods.neural.paper_score import (
    DYNAMIC,
    PaperScore,
    blockwise,
    check_form,
    dynamic,
    tail_surprise,
    weighted,
)
from subadjacent.networks.network import WindowEvidence

FORMS = ["trailing", "released", "printed"]


def noise(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).exponential(size=n)


def before_oracle(scores: list[float], warmup: list[float]) -> list[tuple[float, float]]:
    """Mean and deviation of the scores before each, as many as the warm-up has."""
    found = []
    for row in range(len(scores)):
        known = (warmup + scores[:row])[-len(warmup) :]
        least = max(0.1 * statistics.pstdev(warmup), 1e-12)
        found.append((statistics.fmean(known), max(statistics.pstdev(known), least)))
    return found


def trailing_oracle(scores: list[float], warmup: list[float]) -> list[float]:
    known = before_oracle(scores, warmup)
    return [(x - mean) / deviation for x, (mean, deviation) in zip(scores, known, strict=True)]


def printed_oracle(scores: list[float], warmup: list[float]) -> list[float]:
    known = before_oracle(scores, warmup)
    return [(x - mean) / deviation**2 for x, (mean, deviation) in zip(scores, known, strict=True)]


def released_oracle(scores: list[float], _warmup: list[float]) -> list[float]:
    """The last score has none after it, and is compared with itself."""
    deviation = max(statistics.pstdev(scores), 1e-12)
    found = []
    for row, score in enumerate(scores):
        ahead = scores[row + 1 : row + 11] or [score]
        found.append((score - statistics.fmean(ahead)) / deviation)
    return found


ORACLES: dict[str, Callable[[list[float], list[float]], list[float]]] = {
    "trailing": trailing_oracle,
    "released": released_oracle,
    "printed": printed_oracle,
}


def test_surprise_is_finite_far_in_the_tail() -> None:
    assert tail_surprise(np.array([40.0]))[0] == pytest.approx(804.6, abs=0.05)
    assert np.isfinite(tail_surprise(np.array([-1e50, 1e50]))).all()


def test_surprise_is_the_printed_formula_where_that_is_finite() -> None:
    z = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(tail_surprise(z), -np.log(1 - norm.cdf(z)), rtol=1e-8)


def test_the_trailing_form_by_hand() -> None:
    # against 1 and 3 (mean 2, deviation 1), then against 3 and 4 (mean 3.5, deviation 0.5)
    found = dynamic([4, 5], warmup=[1, 3], form="trailing")
    np.testing.assert_allclose(found, tail_surprise(np.array([2.0, 3.0])))


def test_the_printed_form_by_hand() -> None:
    found = dynamic([4, 5], warmup=[1, 3], form="printed")
    np.testing.assert_allclose(found, tail_surprise(np.array([2.0, 6.0])))


def test_the_released_form_by_hand() -> None:
    # the deviation is 2; against 11/3, 5 and 5, and the last against itself
    found = dynamic([1, 1, 5, 5], warmup=[], form="released")
    np.testing.assert_allclose(found, tail_surprise(np.array([-4 / 3, -2, 0, 0])))


def test_no_form_leaves_the_scores() -> None:
    assert dynamic([4, 0, 8], warmup=[], form="none").tolist() == [4, 0, 8]


def test_every_form_is_that_of_a_loop() -> None:
    for form in FORMS:
        for n in [1, 2, 9, 10, 11, 12, 50]:
            for memory in [2, 7, 30]:
                scores, warmup = noise(n), noise(memory, seed=1)
                z = ORACLES[form](scores.tolist(), warmup.tolist())
                expected = -norm.logsf(z)
                np.testing.assert_allclose(
                    dynamic(scores, warmup, form), expected, rtol=1e-7, atol=1e-12
                )


def test_the_deviation_has_its_digits_far_from_nought() -> None:
    for n in [40, 400]:
        scores, warmup = 1e6 + noise(n), 1e6 + noise(20, seed=1)
        expected = -norm.logsf(trailing_oracle(scores.tolist(), warmup.tolist()))
        np.testing.assert_allclose(dynamic(scores, warmup), expected, rtol=1e-6)


def test_after_a_quiet_segment_a_ripple_is_no_alarm() -> None:
    warmup = noise(50)
    quiet = np.append(np.full(60, warmup.mean()), warmup.mean() + 0.05 * warmup.std())
    # half of the smallest deviation, a tenth of the warm-up's
    assert dynamic(quiet, warmup)[-1] == pytest.approx(-norm.logsf(0.5))


def test_constant_scores_are_not_surprising() -> None:
    for form in FORMS:
        for value in [0.0, 0.1, 1.0, 1234.567, 1e6 + 0.1, 1e12 / 3]:
            found = dynamic(np.full(60, value), np.full(7, value), form)
            np.testing.assert_allclose(found, math.log(2), atol=0.01)


def test_scores_of_any_size_give_finite_results() -> None:
    for form in FORMS:
        for n in [1, 2, 30]:
            for warmup in [np.zeros(5), noise(5)]:
                largest = float(np.finfo(np.float32).max)
                for scores in (
                    np.zeros(n),
                    np.full(n, largest),
                    np.linspace(0, largest, n),
                    -noise(n),
                ):
                    found = dynamic(scores.astype(np.float32), warmup, form)
                    assert found.shape == (n,)
                    assert found.dtype == np.float64
                    assert np.isfinite(found).all()


def test_an_unknown_form_is_refused_with_the_known() -> None:
    for attempt in (check_form, lambda form: dynamic([1.0], [1.0], form)):
        with pytest.raises(InputError) as caught:
            attempt("gaussian")
        assert str(caught.value) == (
            "dynamic must be one of trailing, released, printed, none; got 'gaussian'"
        )
    for form in DYNAMIC:
        check_form(form)


# ---- Eq. 6


def test_equation_6_by_hand() -> None:
    # the weights are 1, 1/2 and 1 over their mean, 5/6
    error = torch.tensor([1.0, 1.0, 2.0])
    contribution = torch.tensor([0.0, math.log(2), 0.0])
    found = weighted(error, contribution, temperature=1.0)
    torch.testing.assert_close(found, torch.tensor([1.2, 0.6, 2.4]))


def test_no_temperature_leaves_the_plain_error() -> None:
    error = torch.rand(2, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(weighted(error, 7 * error, temperature=0.0), error)


def test_each_block_shares_its_weights_and_the_last_may_be_shorter() -> None:
    error, contribution = np.ones(5, np.float32), np.array([0, 1, 2, 2, 7], np.float32) * np.log(2)
    # weights of 1 and 1/2 over their mean, 3/4; two alike; one alone
    found = blockwise(error, contribution.astype(np.float32), block=2, temperature=1.0)
    np.testing.assert_allclose(found, [4 / 3, 2 / 3, 1, 1, 1], rtol=1e-6)


def test_a_window_is_weighted_by_the_contribution_where_there_is_a_temperature() -> None:
    error = torch.tensor([[[1.0, 3.0], [2.0, 2.0]]])
    assessed = WindowEvidence(error, None, {"contribution": torch.tensor([[0.0, math.log(3)]])})
    # the mean errors are 2 and 2, the weights 3/4 and 1/4, times two points
    assert PaperScore(1.0).of_windows(assessed)[0].tolist() == pytest.approx([3.0, 1.0])
    assert PaperScore(0.0).of_windows(assessed)[0].tolist() == [2.0, 2.0]


def test_a_score_knows_which_rows_it_needs() -> None:
    cases: list[Any] = [
        ({"dynamic": "none"}, False, 0),
        ({"dynamic": "trailing"}, False, 7),
        ({"dynamic": "printed"}, False, 7),
        ({"dynamic": "released"}, True, 0),
        ({"dynamic": "none", "block": 5}, True, 0),
    ]
    for settings, needs, memory in cases:
        paper = PaperScore(**settings)
        assert paper.needs_all_rows is needs
        assert paper.memory(np.zeros(7)) == memory
