"""The time left is that of runs that are alike."""

from __future__ import annotations

import pytest

from reproduce.progress import TimeLeft, in_words
from reproduce.run import CLEAN, PUBLISHED, Run

MSL = [Run("msl", "sub-adjacent", PUBLISHED, seed) for seed in range(3)]
SMD = [Run("smd", "sub-adjacent", PUBLISHED, seed) for seed in range(2)]


def test_nothing_is_claimed_before_a_run_has_ended() -> None:
    assert TimeLeft(MSL).seconds() is None


def test_each_dataset_counts_with_its_own_mean() -> None:
    left = TimeLeft([*MSL, *SMD])
    left.done(MSL[0], 2.0)
    left.done(MSL[1], 4.0)
    left.done(SMD[0], 100.0)
    # one of MSL at 3 seconds, one of SMD at 100
    assert left.seconds() == pytest.approx(103)


def test_a_kind_that_was_not_seen_takes_the_mean_of_the_nearest() -> None:
    random = Run("msl", "random", PUBLISHED)
    clean = Run("smd", "pca", CLEAN)
    left = TimeLeft([MSL[0], random])
    left.done(MSL[0], 8.0)
    assert left.seconds() == 8
    left = TimeLeft([MSL[0], clean])
    left.done(MSL[0], 8.0)
    assert left.seconds() == 8


def test_processes_share_what_is_left() -> None:
    left = TimeLeft(MSL, jobs=2)
    left.done(MSL[0], 10.0)
    assert left.seconds() == pytest.approx(10)
    left.done(MSL[1], 10.0)
    # one run cannot be shared
    assert left.seconds() == pytest.approx(10)
    left.done(MSL[2], 10.0)
    assert left.seconds() == 0


@pytest.mark.parametrize(("seconds", "words"), [(40, "40 s"), (720, "12 min"), (12_600, "3.5 h")])
def test_time_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
