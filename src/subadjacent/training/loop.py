"""The training loop: it yields epochs; it prints, saves and stops nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from subadjacent.data.windows import Windows
from subadjacent.model.network import Network
from subadjacent.training.config import TrainingConfig
from subadjacent.training.step import make_pass, set_learning_rate


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one pass over the training windows came to."""

    number: int
    train_loss: float
    validation_error: float
    contribution: float
    seconds: float
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """Where training stands; ``finished`` is set at the end of an epoch."""

    epoch: int
    epochs: int
    step: int
    steps: int
    finished: Epoch | None = None


Watch = Callable[[Progress], None]


def ignore(_progress: Progress) -> None:
    """Watch nothing."""


def train(
    model: Network,
    windows: Windows,
    validation: Windows,
    config: TrainingConfig,
    optimizer: torch.optim.Optimizer,
    autocast: torch.autocast,
    *,
    first: int = 1,
    deadline: float = math.inf,
    compiled: bool = False,
    watch: Watch = ignore,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Epoch]:
    """Train epoch by epoch, from number ``first`` on.

    The order of the windows depends on the seed and the epoch's number alone, so that an
    epoch goes the same way whether or not the ones before it ran in this process. When
    ``clock`` passes ``deadline`` the epoch in progress ends early (after one step at least).
    ``compiled`` has the layers' kernels fused, on a GPU.
    """
    steps = math.ceil(len(windows) / config.batch_size)
    batches = make_pass(
        model, windows, optimizer, autocast, config.attention_weight, config.batch_size,
        compiled=compiled,
    )  # fmt: skip
    for number in range(first, config.epochs + 1):
        started, complete, step = clock(), True, 0
        falls = max(number - config.steady_epochs, 0)
        set_learning_rate(optimizer, config.learning_rate * config.decay**falls)
        model.train()
        batches.begin(_shuffle(config.seed, number))
        for step in range(1, steps + 1):
            batches.advance()
            if deadline < math.inf:
                # a GPU runs behind what it was asked; the clock must not
                batches.losses.item()
            watch(Progress(number, config.epochs, step, steps))
            if clock() >= deadline:
                complete = step == steps
                break
        epoch = Epoch(
            number=number,
            train_loss=batches.losses.item() / step,
            validation_error=validation_error(model, validation, config.batch_size),
            contribution=batches.contributions.item() / step,
            seconds=clock() - started,
            complete=complete,
        )
        watch(Progress(number, config.epochs, step, steps, finished=epoch))
        yield epoch


@torch.inference_mode()
def validation_error(model: Network, windows: Windows, batch_size: int) -> float:
    """Mean squared reconstruction error over all windows, in full precision."""
    model.eval()
    total = torch.zeros((), device=windows.values.device)
    for which in windows.batches(batch_size):
        batch = windows.take(which)
        total += (model(batch).values - batch).square().mean(dim=(1, 2)).sum()
    return total.item() / len(windows)


def _shuffle(seed: int, epoch: int) -> torch.Generator:
    mixed = np.random.SeedSequence([seed, epoch]).generate_state(1, dtype=np.uint64)[0]
    return torch.Generator().manual_seed(int(mixed >> np.uint64(1)))
