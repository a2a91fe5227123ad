"""What is new about a surprise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from subadjacent.streaming.learning.news import FADES, STEP, News


def test_a_surprise_is_told_in_full_and_again_when_it_has_grown_by_a_step() -> None:
    # 2 is less than a step, 5 is told, 7.9 is not a step more, 9 is, 4 is less
    told = News().of(np.array([2.0, 5.0, 7.9, 9.0, 4.0]))
    assert told.tolist() == [0.0, 5.0, 0.0, 9.0, 0.0]


def test_an_event_that_grows_slowly_is_told() -> None:
    # each row is hardly more than the one before it
    told = News().of(np.linspace(0, 20, 400))
    assert told.max() > 15
    # what was told fades, so that there are a few more than 20 / STEP
    assert 4 <= np.count_nonzero(told) <= 10


def test_what_was_told_fades_and_the_same_is_told_again() -> None:
    surprise = np.full(3_000, 6.0)
    again = np.flatnonzero(News().of(surprise)).tolist()
    # as soon as no more than 6 - STEP is left of it
    wait = math.ceil(FADES * math.log(6 / (6 - STEP)))
    assert again == list(range(0, 3_000, wait))


@pytest.mark.parametrize("parts", [1, 2, 33, 700])
def test_news_is_the_definition_read_aloud_however_rows_come(parts: int) -> None:
    surprise = np.random.default_rng(0).exponential(3, size=700)
    news = News()
    found = np.concatenate([news.of(one) for one in np.array_split(surprise, parts)])
    told: list[tuple[int, float]] = []
    for row, amount in enumerate(surprise.tolist()):
        left = told[-1][1] * math.exp(-(row - told[-1][0]) / FADES) if told else 0.0
        if amount >= left + STEP:
            told.append((row, amount))
    assert np.flatnonzero(found).tolist() == [row for row, _ in told]
    assert found[found > 0].tolist() == [amount for _, amount in told]


def test_what_was_told_is_restored() -> None:
    news, other = News(), News()
    news.of(np.array([8.0, 1.0]))
    other.restore(news.state())
    assert other.of(np.array([9.0, 12.0])).tolist() == [0.0, 12.0]
    assert news.of(np.array([9.0, 12.0])).tolist() == [0.0, 12.0]
