"""TranAD: a second pass that knows the errors of the first, and weights that go by the epoch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rivals.small import assess, batch
from subadjacent.rivals.base import squared_error
from subadjacent.rivals.tranad import TranAD, TranADConfig

N, C = 6, 3
CONFIG = TranADConfig(channels=C, window=N)


def network() -> TranAD:
    return TranAD.seeded(CONFIG, 0).eval()


def test_dimensions_follow_the_channels_as_published() -> None:
    model = network()
    assert model.encoder.self_attn.num_heads == C
    assert model.encoder.self_attn.embed_dim == 2 * C
    assert model.encoder.linear1.out_features == 16


def test_the_second_pass_is_given_the_squared_errors_of_the_first() -> None:
    model, rows = network(), batch(CONFIG, 4)
    found = model(rows)
    first = model.decoded(rows, torch.zeros_like(rows), model.first)
    torch.testing.assert_close(found.first, first)
    focus = (first - rows).square()
    torch.testing.assert_close(found.second, model.decoded(rows, focus, model.second))


def test_a_point_of_the_window_that_is_decoded_does_not_see_later_ones() -> None:
    """With what was encoded held fixed, a change of the last point reaches that point alone."""
    model, rows = network(), batch(CONFIG, 4)
    changed = rows.clone()
    changed[:, -1] += 5.0
    whole = model.encoder(torch.cat([rows, torch.zeros_like(rows)], dim=-1))

    def decode(own: Tensor) -> Tensor:
        return model.first(torch.cat([own, own], dim=-1), whole, tgt_mask=model.later)

    moved = (decode(changed) - decode(rows)).abs().amax(dim=(0, 2))
    assert (moved[:-1] < 1e-6).all()
    assert moved[-1] > 1e-3


@pytest.mark.parametrize("epoch", [1, 2, 10])
def test_the_first_error_fades_and_the_second_grows(epoch: int) -> None:
    model, rows = network(), batch(CONFIG, 4)
    first, second = (squared_error(one, rows).mean() for one in model(rows))
    (loss,) = model.losses(rows, epoch)
    torch.testing.assert_close(loss, first / epoch + (1 - 1 / epoch) * second)


def test_the_score_is_the_mean_of_both_errors() -> None:
    model, rows = network(), batch(CONFIG, 4)
    found, assessed = model(rows), assess(model, rows)
    both = [squared_error(one, rows) for one in found]
    torch.testing.assert_close(assessed.error, (both[0] + both[1]) / 2)
    torch.testing.assert_close(assessed.expected, found.second)
