"""Steps with one or several losses; a recorded pass trains as a plain one does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor, nn

from subadjacent.core.band import Band
from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network, WindowEvidence
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer
from subadjacent.training.device import autocast
from subadjacent.training.recorded import RecordedPass, make_pass
from subadjacent.training.step import Pass, make_optimizers, parameters_of, plain_step

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")


def windows() -> Windows:
    rows = torch.randn(90, 3, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    return Windows(rows, torch.arange(70, device=DEVICE), length=20)


def network() -> SubAdjacentTransformer:
    config = SubAdjacentConfig(3, width=32, heads=2, layers=2, feedforward=32, band=Band(4, 6))
    return SubAdjacentTransformer.seeded(config, 0).to(DEVICE)


def shuffled(epoch: int) -> torch.Generator:
    return torch.Generator().manual_seed(epoch)


class Two(Network):
    """Two numbers, a = 2 and b = 3, and two losses: a·b, and the epoch times (a + b)²."""

    def __init__(self, *groups: str) -> None:
        super().__init__(None)  # type: ignore[arg-type]  # it has no settings
        self.a, self.b = (nn.Parameter(torch.tensor(value)) for value in (2.0, 3.0))
        self.groups = groups

    def losses(self, windows: Tensor, epoch: int) -> Sequence[Tensor]:  # noqa: ARG002
        return self.a * self.b, epoch * (self.a + self.b) ** 2

    def parameter_groups(self) -> Sequence[Sequence[nn.Parameter]]:
        return [[getattr(self, name) for name in group] for group in self.groups]

    def assess(self, windows: Tensor) -> WindowEvidence:
        return WindowEvidence(windows, None, {})


def moved(model: Network, epoch: int = 1) -> float:
    """Take one step of plain descent at a rate of 0.1; return the sum of the losses before."""
    optimizers = [torch.optim.SGD(group, lr=0.1) for group in model.parameter_groups()]
    step = plain_step(model, optimizers, autocast(torch.device("cpu"), "float32"))
    return step(torch.zeros(1, 1, 1), epoch).item()


def test_each_optimiser_follows_its_own_loss_from_where_both_began() -> None:
    model = Two("a", "b")
    assert moved(model) == 6 + 25
    # ∂(a·b)/∂a = b = 3; ∂(a + b)²/∂b = 2·(a + b) = 10, with a as it was before its own step
    assert [model.a.item(), model.b.item()] == pytest.approx([2 - 0.3, 3 - 1.0])


def test_a_parameter_of_two_optimisers_is_moved_by_both_losses() -> None:
    model = Two("ab", "a")
    moved(model)
    # a by b = 3 and by 2·(a + b) = 10; b by a = 2
    assert [model.a.item(), model.b.item()] == pytest.approx([2 - 0.3 - 1.0, 3 - 0.2])


def test_a_loss_may_depend_on_the_epoch() -> None:
    model = Two("a", "b")
    assert moved(model, epoch=3) == 6 + 75
    assert model.b.item() == pytest.approx(3 - 3.0, abs=1e-6)


def test_a_network_has_one_optimiser_over_all_its_parameters_unless_it_says_otherwise() -> None:
    model = network()
    (optimizer,) = make_optimizers(model, 1e-3)
    assert parameters_of(optimizer) == list(model.parameters())
    assert [len(parameters_of(one)) for one in make_optimizers(Two("ab", "a"), 1e-3)] == [2, 1]


def test_more_losses_than_optimisers_are_an_error() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        moved(Two("ab"))


def test_a_network_that_is_not_recordable_is_trained_by_a_plain_pass() -> None:
    model = Two("a", "b").to(DEVICE)
    run = make_pass(model, windows(), make_optimizers(model, 0.1), autocast(DEVICE), 8)
    assert type(run) is Pass


def test_a_pass_takes_each_window_once_an_epoch_and_adds_up() -> None:
    taken, epochs = [], []

    def step(batch, epoch, weight):
        assert weight == 1
        taken.append(batch[:, 0, 0])
        epochs.append(epoch)
        return batch[:, 0, 0].sum()

    found = windows()
    one = Pass(step, found, 16)
    for epoch in range(2):
        one.begin(epoch, shuffled(epoch))
        for _ in range(5):
            one.advance()
        first = torch.cat(taken).sort().values
        torch.testing.assert_close(first, found.values[:70, 0].sort().values)
        torch.testing.assert_close(one.losses, first.sum())
        taken.clear()
    assert epochs == [0] * 5 + [1] * 5


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_pass_trains_as_steps_on_its_batches_do(precision: str) -> None:
    found, losses = windows(), []
    for whole in (True, False):
        model = network()
        optimizers, mixed = make_optimizers(model, 1e-3), autocast(DEVICE, precision)
        if whole:
            run = make_pass(model, found, optimizers, mixed, 8)
            assert isinstance(run, RecordedPass) == GPU
        else:
            step = plain_step(model, optimizers, mixed)
        for epoch in range(3):
            if whole:
                run.begin(epoch, shuffled(epoch))
                for _ in range(9):
                    run.advance()
                losses.append(run.losses.item())
            else:
                total = torch.zeros((), device=DEVICE)
                for which in found.batches(8, shuffled(epoch)):
                    total += step(found.take(which), epoch)
                losses.append(total.item())
    assert losses[:3] == pytest.approx(losses[3:], rel=1e-3 if GPU else 1e-9)
    assert losses[2] < losses[0]
