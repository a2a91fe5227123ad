"""The LSTM forecaster: nothing of a row, or of a later one, is in its forecast."""

from __future__ import annotations

import torch

from rivals.small import batch
from subadjacent.rivals.lstm import LSTM, LSTMConfig
from tiny import WINDOW

CONFIG = LSTMConfig(channels=2, window=WINDOW, width=8, layers=2, dropout=0.0)


def test_dimensions_are_the_published_ones() -> None:
    model = LSTM(LSTMConfig(channels=25, window=250))
    assert (model.remember.hidden_size, model.remember.num_layers) == (80, 2)
    assert model.remember.dropout == 0.3
    # four gates of 80 units, each with weights on its input and on the last state, and two biases
    count = 4 * 80 * (25 + 80 + 2) + 4 * 80 * (80 + 80 + 2) + 80 * 25 + 25
    assert sum(one.numel() for one in model.parameters()) == count


def test_a_forecast_depends_on_rows_before_alone() -> None:
    model, rows = LSTM.seeded(CONFIG, 0).eval(), batch(CONFIG)
    changed = rows.clone()
    changed[:, 5] += 3.0
    moved = (model(changed) - model(rows)).abs().amax(dim=(0, 2))
    assert (moved[:6] == 0).all()
    assert (moved[6:] > 0).all()


def test_the_first_forecast_is_the_mean() -> None:
    assert (LSTM.seeded(CONFIG, 0)(batch(CONFIG))[:, 0] == 0).all()


def test_half_a_window_starts_the_forecast() -> None:
    assert LSTM.seeded(CONFIG, 0).context == WINDOW // 2


def test_the_loss_leaves_out_the_first_point_which_has_no_forecast() -> None:
    model, rows = LSTM.seeded(CONFIG, 0).eval(), batch(CONFIG)
    (loss,) = model.losses(rows, 1)
    torch.testing.assert_close(loss, (model(rows) - rows)[:, 1:].square().mean())
