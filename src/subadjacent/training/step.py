"""One step of training: losses, gradients, weights."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from subadjacent.data.windows import Windows
from subadjacent.networks.draws import part_of_batch
from subadjacent.networks.network import Network
from subadjacent.training.group import ALONE, Group

Optimizers = Sequence[torch.optim.Optimizer]


class Step(Protocol):
    """Trains on one batch, or on this process's share of it."""

    def __call__(self, batch: Tensor, epoch: int, weight: float = 1.0) -> Tensor:
        """The sum of the losses, times the weight of the share in the batch."""


def make_optimizers(model: Network, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Adam for each of the network's groups of parameters.

    On a GPU in the form that can be recorded, with its learning rate in a tensor.
    """
    device = next(model.parameters()).device
    optimizers: list[torch.optim.Optimizer] = []
    for group in model.parameter_groups():
        if device.type != "cuda":
            optimizers.append(torch.optim.Adam(group, lr=learning_rate, fused=True))
        else:
            rate = torch.tensor(learning_rate, device=device)
            optimizers.append(torch.optim.Adam(group, lr=rate, fused=True, capturable=True))
    return optimizers


def set_learning_rate(optimizers: Optimizers, rate: float) -> None:
    """Set the learning rate; a tensor, which a recorded step reads, is changed in place."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate


def plain_step(
    model: Network, optimizers: Optimizers, autocast: torch.autocast, group: Group = ALONE
) -> Step:
    """A function that trains on one batch, each process of the group on its share of it."""

    def step(batch: Tensor, epoch: int, weight: float = 1.0) -> Tensor:
        with torch.enable_grad(), autocast:
            losses = model.losses(batch, epoch)
            if group.size > 1:
                # the mean over a batch is that of its parts, weighted by their windows
                losses = [weight * loss for loss in losses]
        _learn(losses, optimizers, group)
        return functools.reduce(torch.add, [loss.detach() for loss in losses])

    return step


def _learn(losses: Sequence[Tensor], optimizers: Optimizers, group: Group) -> None:
    """Change the parameters of each optimiser by the gradients of its own loss.

    Gradients are those of all processes, added up.
    """
    if len(losses) == 1:
        (optimizer,) = optimizers
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(losses[0])
        group.add(
            [parameter.grad for parameter in parameters_of(optimizer) if parameter.grad is not None]
        )
        optimizer.step()
        return
    owned = [parameters_of(optimizer) for optimizer in optimizers]
    gradients = []
    # all gradients before any step: a step changes what the other losses were computed from
    for number, (loss, parameters) in enumerate(zip(losses, owned, strict=True)):
        for parameter in parameters:
            parameter.grad = None
        last = number == len(losses) - 1
        torch.autograd.backward(loss, inputs=parameters, retain_graph=not last)
        gradients.append([parameter.grad for parameter in parameters])
    group.add(
        [
            gradient
            for of_optimizer in gradients
            for gradient in of_optimizer
            if gradient is not None
        ]
    )
    for optimizer, parameters, of_optimizer in zip(optimizers, owned, gradients, strict=True):
        for parameter, gradient in zip(parameters, of_optimizer, strict=True):
            parameter.grad = gradient
        optimizer.step()


def parameters_of(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """All parameters that an optimiser changes."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


class Pass:
    """Trains batch after batch, and adds up the losses of an epoch.

    The sum stays on the device: to read it every step would make it wait. It is this process's
    part of the losses; those of the group add up to the whole.
    """

    def __init__(self, step: Step, windows: Windows, batch_size: int, group: Group = ALONE) -> None:
        self.step = step
        self.windows = windows
        self.batch_size = batch_size
        self.group = group
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
        """Train on some windows, of which this process takes its share."""
        first, last, weight = self.group.part(len(which))
        with part_of_batch(first, last, len(which)):
            batch = self.windows.take(which[first:last])
            self.losses += self.step(batch, self.epoch, weight)
