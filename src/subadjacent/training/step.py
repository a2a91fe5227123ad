"""One step of training: losses, gradients, weights."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network

Optimizers = Sequence[torch.optim.Optimizer]
# from a batch of windows and the epoch's number to the sum of the losses
Step = Callable[[Tensor, int], Tensor]


def make_optimizers(model: Network, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Adam for each of the network's groups of parameters.

    On a GPU in the form that can be recorded, with its learning rate in a tensor.
    """
    device = next(model.parameters()).device
    found: list[torch.optim.Optimizer] = []
    for group in model.parameter_groups():
        if device.type != "cuda":
            found.append(torch.optim.Adam(group, lr=learning_rate, fused=True))
        else:
            rate = torch.tensor(learning_rate, device=device)
            found.append(torch.optim.Adam(group, lr=rate, fused=True, capturable=True))
    return found


def set_learning_rate(optimizers: Optimizers, rate: float) -> None:
    """Change the rate, in place where a recorded step reads it."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate


def plain_step(model: Network, optimizers: Optimizers, autocast: torch.autocast) -> Step:
    """A function that trains on one batch."""

    def step(batch: Tensor, epoch: int) -> Tensor:
        with torch.enable_grad(), autocast:
            losses = model.losses(batch, epoch)
        _learn(losses, optimizers)
        return functools.reduce(torch.add, [one.detach() for one in losses])

    return step


def _learn(losses: Sequence[Tensor], optimizers: Optimizers) -> None:
    """Change the parameters of each optimiser by the gradients of its own loss."""
    if len(losses) == 1:
        (optimizer,) = optimizers
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(losses[0])
        optimizer.step()
        return
    groups = [parameters_of(optimizer) for optimizer in optimizers]
    gradients = []
    # all gradients before any step: a step changes what the other losses were computed from
    for number, (loss, group) in enumerate(zip(losses, groups, strict=True)):
        for one in group:
            one.grad = None
        last = number == len(losses) - 1
        torch.autograd.backward(loss, inputs=group, retain_graph=not last)
        gradients.append([one.grad for one in group])
    for optimizer, group, found in zip(optimizers, groups, gradients, strict=True):
        for one, gradient in zip(group, found, strict=True):
            one.grad = gradient
        optimizer.step()


def parameters_of(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """All parameters that an optimiser changes."""
    return [one for group in optimizer.param_groups for one in group["params"]]


class Pass:
    """Trains batch after batch, and adds up the losses of an epoch.

    The sum stays on the device: to read it every step would make it wait.
    """

    def __init__(self, step: Step, windows: Windows, batch_size: int) -> None:
        self.step = step
        self.windows = windows
        self.batch_size = batch_size
        self.epoch = 0
        self.losses = torch.zeros((), device=windows.values.device)
        self.batches: Iterator[Tensor] = iter(())

    def begin(self, epoch: int, generator: torch.Generator) -> None:
        """Begin an epoch, its windows shuffled by the generator."""
        self.epoch = epoch
        self.losses.zero_()
        self.batches = self.windows.batches(self.batch_size, generator)

    def advance(self) -> None:
        """Train on the next batch of the epoch."""
        self.train_on(next(self.batches))

    def train_on(self, which: Tensor) -> None:
        """Train on some windows."""
        self.losses += self.step(self.windows.take(which), self.epoch)
