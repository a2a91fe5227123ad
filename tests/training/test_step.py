"""A recorded pass trains as one that asks for kernel after kernel."""

from __future__ import annotations

import pytest
import torch

from subadjacent.core import Band
from subadjacent.data.windows import Windows
from subadjacent.model import ModelConfig, SubAdjacentTransformer
from subadjacent.training.device import autocast
from subadjacent.training.step import Pass, RecordedPass, make_optimizer, make_pass, make_step

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")


def windows() -> Windows:
    rows = torch.randn(90, 3, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    return Windows(rows, torch.arange(70, device=DEVICE), length=20)


def network() -> SubAdjacentTransformer:
    config = ModelConfig(3, width=32, heads=2, layers=2, feedforward=32, band=Band(4, 6))
    return SubAdjacentTransformer.seeded(config, 0).to(DEVICE)


def shuffled(epoch: int) -> torch.Generator:
    return torch.Generator().manual_seed(epoch)


def test_a_pass_takes_each_window_once_an_epoch_and_adds_up() -> None:
    taken = []

    def step(batch):
        taken.append(batch[:, 0, 0])
        return batch[:, 0, 0].sum(), batch[..., 0]

    found = windows()
    one = Pass(step, found, 16)
    for epoch in range(2):
        one.begin(shuffled(epoch))
        for _ in range(5):
            one.advance()
        first = torch.cat(taken).sort().values
        torch.testing.assert_close(first, found.values[:70, 0].sort().values)
        torch.testing.assert_close(one.losses, first.sum())
        taken.clear()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_pass_trains_as_steps_on_its_batches_do(precision: str) -> None:
    found, losses = windows(), []
    for whole in (True, False):
        model = network()
        optimizer = make_optimizer(model, 1e-3)
        if whole:
            run = make_pass(model, found, optimizer, autocast(DEVICE, precision), 10.0, 8)
            assert isinstance(run, RecordedPass) == GPU
        else:
            step = make_step(model, optimizer, autocast(DEVICE, precision), 10.0, 8)
        for epoch in range(3):
            if whole:
                run.begin(shuffled(epoch))
                for _ in range(9):
                    run.advance()
                losses.append(run.losses.item())
            else:
                total = torch.zeros((), device=DEVICE)
                for which in found.batches(8, shuffled(epoch)):
                    total += step(found.take(which)).loss
                losses.append(total.item())
    assert losses[:3] == pytest.approx(losses[3:], rel=1e-3 if GPU else 1e-9)
    assert losses[2] < losses[0]
