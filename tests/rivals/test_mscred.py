"""MSCRED: signature matrices as defined, attention to like moments, and a score that counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from rivals.small import assess, batch
from subadjacent.rivals.mscred import (
    MIN_BAD,
    MSCRED,
    AttentiveConvLSTM,
    MSCREDConfig,
    signatures,
)

CONFIG = MSCREDConfig(
    channels=3, window=12, scales=(2, 4, 6), steps=3, gap=2, maps=(4, 6), likeness=1.0
)


def network(config: MSCREDConfig = CONFIG) -> MSCRED:
    return MSCRED.seeded(config, 0).eval()


def test_signatures_equal_the_definition_at_every_moment_and_scale() -> None:
    rows, lengths = batch(CONFIG, 2), (2, 4, 6)
    found = signatures(rows, lengths, steps=3, gap=2)
    assert found.shape == (2, 3, 3, 3, 3)
    for b in range(2):
        for moment, last in enumerate((7, 9, 11)):
            for scale, length in enumerate(lengths):
                for i in range(3):
                    for j in range(3):
                        total = sum(
                            float(rows[b, last - back, i] * rows[b, last - back, j])
                            for back in range(length)
                        )
                        value = float(found[b, moment, scale, i, j])
                        assert value == pytest.approx(total / length, abs=1e-5)


@pytest.mark.parametrize("window", [2, 3, 4, 5, 20, 37])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_short_windows_and_few_channels_have_matrices_too(window: int, channels: int) -> None:
    config = MSCREDConfig(channels=channels, window=window, maps=(2, 3, 3, 3))
    steps, gap = config.moments
    assert max(config.lengths) + (steps - 1) * gap <= window
    model = network(config)
    matrices = model.signatures(batch(config, 2))
    assert matrices.shape == (2, steps, 3, channels, channels)
    assert model(matrices).shape == (2, 3, channels, channels)


def test_moments_count_by_their_likeness_to_the_last() -> None:
    states = torch.tensor([1.0, -1.0, 2.0]).view(1, 3, 1, 1, 1)
    found = AttentiveConvLSTM(1, likeness=2.0).weights(states)
    # inner products with the last, over 2
    torch.testing.assert_close(found, torch.tensor([[1.0, -1.0, 2.0]]).softmax(dim=1))


def test_the_recurrence_is_an_lstm_of_convolutions() -> None:
    """On maps of one value, where a convolution is a product by the kernel's centre."""
    model = AttentiveConvLSTM(1, likeness=5.0)
    maps = torch.randn(2, 3, 1, 1, 1, generator=torch.Generator().manual_seed(3))
    assert model.take.bias is not None
    take, bias, keep = model.take.weight[:, 0, 1, 1], model.take.bias, model.keep.weight[:, 0, 1, 1]
    for b in range(2):
        state = memory = torch.zeros(())
        states = []
        for moment in range(3):
            enter, forget, leave, new = take * maps[b, moment].squeeze() + bias + keep * state
            memory = forget.sigmoid() * memory + enter.sigmoid() * new.tanh()
            state = leave.sigmoid() * memory.tanh()
            states.append(state)
        through = torch.stack(states)
        share = (through * through[-1] / 5).softmax(dim=0)
        torch.testing.assert_close(model(maps)[b].squeeze(), (share * through).sum())


def test_the_loss_is_the_error_of_the_last_moment() -> None:
    model, rows = network(), batch(CONFIG, 2)
    matrices = model.signatures(rows)
    expected = (model(matrices) - matrices[:, -1]).square().mean()
    torch.testing.assert_close(model.losses(rows, 1)[0], expected)


def test_a_pair_is_bad_when_few_held_out_ones_are_worse() -> None:
    model, rows = network(replace(CONFIG, scales=(10, 30, 60), bad=0.25)), batch(CONFIG, 2)
    with torch.no_grad():
        matrices = model.signatures(rows)
        squared = (model(matrices) - matrices[:, -1]).square()[:, 0]
        model.conclude([], [rows[:1], rows[1:]])
    assert float(model.bad_above) == pytest.approx(np.quantile(squared, 0.75), rel=1e-5)
    with torch.no_grad():
        for one in model.parameters():
            one.zero_()
        model.conclude([], [torch.zeros(1, 12, 3)])
    assert float(model.bad_above) == pytest.approx(MIN_BAD)


def test_the_score_counts_bad_pairs_and_size_decides_between_equals() -> None:
    model, rows = network(), batch(CONFIG, 2)
    model.bad_above.fill_(0.5)
    matrices = model.signatures(rows)
    squared = (model(matrices) - matrices[:, -1]).square()
    assessed = assess(model, rows)
    assert assessed.expected is None
    for b in range(2):
        bad = int((squared[b, 0] > 0.5).sum())
        assert 0 < bad < 9
        size = squared[b, 0].mean() / 0.5
        torch.testing.assert_close(assessed.score[b, -1], (bad + size / (1 + size)) / 9)
        assert torch.equal(assessed.score[b], assessed.score[b, -1].expand(12))
        # a channel's error is the mean over its pairs, of all scales
        torch.testing.assert_close(assessed.error[b, -1], squared[b].mean(dim=(0, 1)))
