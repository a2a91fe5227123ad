"""UAE: channels apart, errors in units of held-out rows, surprises added up."""

from __future__ import annotations

import torch
from scipy.stats import norm
from torch import Tensor

from rivals.small import assess
from subadjacent.rivals.uae import UAE, ChannelLinear, UAEConfig, tail_surprise
from tiny import WINDOW

CONFIG = UAEConfig(channels=3, window=WINDOW, latent=2)


def batch(seed: int = 5, count: int = 4) -> Tensor:
    return torch.randn(count, WINDOW, 3, generator=torch.Generator().manual_seed(seed))


def test_a_layer_is_a_product_for_each_channel() -> None:
    torch.manual_seed(0)
    layer, points = ChannelLinear(3, 5, 2), torch.randn(4, 3, 5)
    found = layer(points)
    for channel in range(3):
        one = points[:, channel] @ layer.weight[channel] + layer.bias[channel]
        torch.testing.assert_close(found[:, channel], one)


def test_layers_narrow_to_the_code_and_widen_again() -> None:
    widths = [one.weight.shape[1:] for one in UAE.seeded(CONFIG, 0).layers]
    assert [tuple(one) for one in widths] == [(12, 6), (6, 3), (3, 2), (2, 3), (3, 6), (6, 12)]


def test_a_channel_is_reconstructed_from_itself_alone() -> None:
    model, rows = UAE.seeded(CONFIG, 0), batch()
    changed = rows.clone()
    changed[:, :, 0] += 3.0
    before, after = model(rows), model(changed)
    torch.testing.assert_close(before[:, :, 1:], after[:, :, 1:], rtol=0, atol=0)
    assert not torch.allclose(before[:, :, 0], after[:, :, 0])


def test_surprise_is_the_normal_tail_and_finite_far_out() -> None:
    z = torch.tensor([-3.0, 0.0, 1.0, 4.0])
    expected = -torch.from_numpy(norm.logsf(z.numpy())).float()
    torch.testing.assert_close(tail_surprise(z), expected)
    assert torch.isfinite(tail_surprise(torch.tensor([1e4]))).all()


def test_scores_add_up_surprises_in_units_of_held_out_rows() -> None:
    model = UAE.seeded(CONFIG, 0)
    held_out = [batch(1), batch(2)]
    with torch.no_grad():
        model.conclude([], held_out)
        errors = torch.cat([(model(one) - one).abs() for one in held_out]).flatten(0, 1)
        assessed = assess(model, batch())
        z = ((model(batch()) - batch()).abs() - errors.mean(0)) / errors.std(0, correction=0)
    torch.testing.assert_close(assessed.error, tail_surprise(z))
    torch.testing.assert_close(assessed.score, assessed.error.sum(dim=-1))


def test_a_channel_without_spread_leaves_finite_scores() -> None:
    model = UAE.seeded(CONFIG, 0)
    with torch.no_grad():
        model.conclude([], [torch.zeros(2, WINDOW, 3)[:1, :, :].expand(3, -1, -1)])
        assessed = assess(model, 10 * batch())
    assert torch.isfinite(assessed.error).all()
