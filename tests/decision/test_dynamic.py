"""The threshold of Hundman et al.: which level is taken, and which peaks are given up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from subadjacent.decision.dynamic import DEVIATIONS, dynamic_level, pruned
from subadjacent.decision.threshold import DynamicLevel
from subadjacent.errors import InputError
from subadjacent.rivals.pca import SubPCADetector


def quiet(rows: int = 1000) -> NDArray[np.float64]:
    return np.random.default_rng(0).uniform(0.9, 1.1, rows)


def slow_level(scores: NDArray[np.float64]) -> float:
    """The level of the paper's equation before pruning, run by run."""
    best, found = 0.0, scores.mean() + 12 * scores.std()
    for z in np.arange(2.5, 12.5, 0.5):
        level = scores.mean() + z * scores.std()
        above = [number for number, score in enumerate(scores) if score > level]
        if not above:
            continue
        runs = 1 + sum(after - before > 1 for before, after in pairwise(above))
        rest = np.delete(scores, above)
        fall = (scores.mean() - rest.mean()) / scores.mean()
        fall += (scores.std() - rest.std()) / scores.std()
        worth = fall / (len(above) + runs**2)
        if worth > best:
            best, found = worth, level
    return float(found)


def test_one_peak_far_above_the_rest_is_all_that_stands_out() -> None:
    scores = quiet()
    scores[500:503] = 5.0
    level = dynamic_level(scores)
    assert set(np.flatnonzero(scores > level)) == {500, 501, 502}


def test_nothing_stands_out_of_rows_that_are_all_alike() -> None:
    assert (quiet() <= dynamic_level(quiet())).all()
    assert (np.ones(50) <= dynamic_level(np.ones(50))).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_level_is_that_of_the_papers_equation(seed: int) -> None:
    scores = np.random.default_rng(seed).gamma(1.0, 1.0, 400)
    scores[100:120] += 8
    scores[300] += 20
    # no peak is given up where every step counts
    assert dynamic_level(scores, step=0.0) == pytest.approx(slow_level(scores))


def test_peaks_below_the_last_clear_step_are_given_up() -> None:
    scores = quiet()
    scores[[100, 300, 500]] = 20.0, 10.0, 9.5
    # steps from peak to peak: a half, a twentieth, and nine tenths down to the rest
    assert pruned(scores, 2.0, 0.13) == 2.0
    # with the rest at 9, the last two are no clear step above it
    scores[700] = 9.0
    assert pruned(scores, 9.2, 0.13) == 10.0
    # and where there is no clear step at all, none is left
    assert pruned(scores, 9.2, 0.6) == 20.0
    assert pruned(scores, 30.0, 0.13) == 30.0


def test_a_level_is_the_mean_and_a_number_of_deviations() -> None:
    scores = quiet()
    scores[500] = 5.0
    away = (dynamic_level(scores) - scores.mean()) / scores.std()
    assert np.isclose(away, DEVIATIONS).any()


def test_a_detector_takes_it_by_name_and_decides_by_the_segment_itself() -> None:
    rows = np.random.default_rng(0).normal(size=(600, 3))
    later = np.random.default_rng(1).normal(size=(600, 3))
    later[300:305] += 15
    detector = SubPCADetector(contamination=DynamicLevel(), adapt_after=None).fit(rows)
    found = detector.assess(later)
    assert found.thresholds == pytest.approx(np.full(600, dynamic_level(found.scores)))
    assert detector.predict(later)[300:305].all()
    assert detector.predict(later).sum() < 60


def test_a_step_that_is_no_share_is_refused() -> None:
    with pytest.raises(InputError, match="step must be a finite number of at least 0 and of at "):
        DynamicLevel(step=2.0)
