"""The surprise of a row, over views and channels."""

from __future__ import annotations

import numpy as np
import pytest

from subadjacent.methods.online.surprise import MAX_VIEW_SURPRISE, StreamSurprise
from subadjacent.methods.online.views import view_count

VIEWS = view_count(2)


def learned(channels: int) -> StreamSurprise:
    surprise = StreamSurprise(channels)
    values = np.random.default_rng(0).exponential(size=(500, 1, 1))
    surprise.learn(np.tile(values, (1, VIEWS, channels)), np.ones(500, dtype=bool), 1.0)
    return surprise


def test_views_are_added_and_channels_have_a_norm() -> None:
    surprise, moved = learned(16), np.ones(16, dtype=bool)
    alike, one = np.full((1, VIEWS, 16), 4.0), np.full((1, VIEWS, 16), 1e-9)
    one[..., 0] = 4.0
    by_view, by_channel, of_all = surprise.of(alike, moved, 500)
    (of_a_view,) = np.unique(surprise.tails.surprise(alike.reshape(1, -1))).tolist()
    assert by_view.ravel().tolist() == pytest.approx([of_a_view] * VIEWS * 16)
    assert by_channel.tolist() == [[pytest.approx(VIEWS * of_a_view)] * 16]
    # half of one channel; 16 channels that depart alike count for twice as much
    assert surprise.of(one, moved, 500).row.item() == pytest.approx(VIEWS * of_a_view / 2)
    assert of_all.item() == pytest.approx(VIEWS * of_a_view)


def test_a_view_is_bounded_and_a_first_move_is_as_rare_as_the_rows() -> None:
    far, moved = np.full((1, VIEWS, 2), 1e9), np.array([True, False])
    (by_channel,) = learned(2).of(far, moved, 500).by_channel
    assert by_channel.tolist() == pytest.approx([VIEWS * MAX_VIEW_SURPRISE, VIEWS * np.log(500)])


def test_rows_of_an_event_count_a_tenth_and_counts_are_restored() -> None:
    surprise, other = StreamSurprise(1), StreamSurprise(1)
    surprise.learn(np.ones((500, view_count(1), 1)), np.arange(500) < 400, 1.0)
    other.restore(surprise.state())
    for each in (surprise, other):
        assert each.tails.counts.sum(axis=-1).tolist() == pytest.approx([410] * view_count(1))
