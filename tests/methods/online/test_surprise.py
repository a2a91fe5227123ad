"""The surprise of a row, over views, channels and a model's score."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.surprise import MAX_VIEW_SURPRISE, StreamSurprise
from subadjacent.methods.online.views import view_count

VIEWS = view_count(2)
CALM = np.ones(500, dtype=bool)


def learned(channels: int) -> StreamSurprise:
    rng = np.random.default_rng(0)
    surprise = StreamSurprise(channels)
    departures = np.tile(rng.exponential(size=(500, 1, 1)), (1, VIEWS, channels))
    surprise.learn(departures, rng.exponential(size=500), CALM, 1.0)
    return surprise


def test_views_are_added_and_channels_have_a_norm() -> None:
    surprise, moved = learned(16), np.ones(16, dtype=bool)
    alike, one = np.full((1, VIEWS, 16), 4.0), np.full((1, VIEWS, 16), 1e-9)
    one[..., 0] = 4.0
    by_view, by_channel, of_all, with_score = surprise.of(alike, None, moved, 500)
    (of_a_view,) = np.unique(surprise.tails.surprise(alike.reshape(1, -1))).tolist()
    assert by_view.ravel().tolist() == pytest.approx([of_a_view] * VIEWS * 16)
    assert by_channel.tolist() == [[pytest.approx(VIEWS * of_a_view)] * 16]
    # half of one channel; 16 channels that depart alike count for twice as much
    assert surprise.of(one, None, moved, 500).row.item() == pytest.approx(VIEWS * of_a_view / 2)
    assert of_all.item() == pytest.approx(VIEWS * of_a_view)
    # without a model's score
    assert with_score.tolist() == of_all.tolist()


def test_a_view_and_a_score_are_bounded_and_a_first_move_is_as_rare_as_the_rows() -> None:
    surprise = learned(2)
    far = np.full((1, VIEWS, 2), 1e9)
    moved = np.array([True, False])
    _, by_channel, without, _ = surprise.of(far, None, moved, 500)
    assert by_channel[0].tolist() == pytest.approx([VIEWS * MAX_VIEW_SURPRISE, VIEWS * np.log(500)])
    found = surprise.of(far, np.array([1e9]), moved, 500)
    assert found.row == without
    assert found.with_score - without == pytest.approx(MAX_VIEW_SURPRISE / 2)


def test_rows_that_are_not_calm_count_a_tenth() -> None:
    surprise = StreamSurprise(1)
    surprise.learn(np.ones((500, view_count(1), 1)), None, np.arange(500) < 400, 1.0)
    # no score came
    assert surprise.tails.counts.sum(axis=-1).tolist() == pytest.approx([410] * view_count(1) + [0])


def test_what_was_counted_is_restored() -> None:
    surprise, other = learned(2), StreamSurprise(2)
    other.restore(surprise.state())
    departures, scores = np.full((1, VIEWS, 2), 3.0), np.array([5.0])
    moved = np.ones(2, dtype=bool)
    found, expected = (each.of(departures, scores, moved, 9) for each in (other, surprise))
    for one, other_one in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other_one)
