"""What is new about a surprise."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.streaming.learning.news import FADES, News


def test_only_what_exceeds_the_rows_before_is_news() -> None:
    # a row later a surprise still counts in full, then a five-hundredth less each row
    assert News().of(np.array([3.0, 3.0, 5.0, 0.0])).tolist() == [3.0, 0.0, 2.0, 0.0]


def test_a_surprise_fades_and_is_news_again() -> None:
    surprise = np.zeros(FADES + 2)
    surprise[[0, FADES // 2, FADES + 1]] = 4.0
    news = News().of(surprise)
    assert news[FADES // 2] == pytest.approx(4 * (1 - (FADES // 2 + 1) / FADES))
    assert news[-1] == pytest.approx(4 * (1 - (FADES // 2) / FADES))
    later = np.zeros(FADES + 2)
    later[[0, FADES + 1]] = 4.0
    assert News().of(later)[-1] == 4


def test_rows_one_by_one_are_as_all_at_once() -> None:
    surprise = np.random.default_rng(0).exponential(size=700)
    news = News()
    each = np.concatenate([news.of(one) for one in np.array_split(surprise, 33)])
    assert (each == News().of(surprise)).all()
    other = News()
    other.restore(news.state())
    assert (other.of(np.array([9.0])) == news.of(np.array([9.0]))).all()
