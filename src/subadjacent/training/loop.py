"""The training loop: it yields epochs; it prints, saves and stops nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network
from subadjacent.runtime import Progress, Watch, ignore
from subadjacent.training.config import TrainingConfig
from subadjacent.training.device import seeded
from subadjacent.training.group import ALONE, Group
from subadjacent.training.history import Epoch
from subadjacent.training.recorded import make_pass
from subadjacent.training.step import Optimizers, set_learning_rate


class Validation(NamedTuple):
    """A network's error and traces on the validation windows: means over all their points."""

    error: float
    traces: dict[str, float]


def train(
    model: Network,
    windows: Windows,
    validation: Windows,
    config: TrainingConfig,
    optimizers: Optimizers,
    autocast: torch.autocast,
    *,
    first: int = 1,
    deadline: float = math.inf,
    compiled: bool = False,
    group: Group = ALONE,
    watch: Watch = ignore,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Epoch]:
    """Train epoch by epoch, from number ``first`` on.

    The order of the windows, and what a network draws at random, depend on the seed and the
    epoch's number alone, so that an epoch goes the same way whether or not the ones before it
    ran in this process. When ``clock`` passes ``deadline`` the epoch in progress ends early
    (after one step at least). ``compiled`` has the layers' kernels fused, on a GPU. The processes
    of the group share out every batch, and end with the same weights.
    """
    steps = math.ceil(len(windows) / config.batch_size)
    batches = make_pass(
        model, windows, optimizers, autocast, config.batch_size, compiled=compiled, group=group
    )
    for number in range(first, config.epochs + 1):
        started, complete, step = clock(), True, 0
        falls = max(number - config.steady_epochs, 0)
        set_learning_rate(optimizers, config.learning_rate * config.decay**falls)
        order, draws = _seeds(config.seed, number)
        model.train()
        batches.begin(number, torch.Generator().manual_seed(order))
        with seeded(windows.values.device, draws):
            for step in range(1, steps + 1):
                batches.advance()
                if deadline < math.inf:
                    # a GPU works asynchronously; the clock must wait for it
                    batches.losses.item()
                watch(_progress(config.epochs, number, steps, step))
                if is_over(deadline, clock, group):
                    complete = step == steps
                    break
        group.add([batches.losses])
        validated = validate(model, validation, config.batch_size, group)
        epoch = Epoch(
            number=number,
            train_loss=batches.losses.item() / step,
            validation_error=validated.error,
            seconds=clock() - started,
            complete=complete,
            traces=validated.traces,
        )
        note = f"validation error {validated.error:.4g}"
        watch(_progress(config.epochs, number, steps, step, note))
        yield epoch


@torch.inference_mode()
def validate(model: Network, windows: Windows, batch_size: int, group: Group = ALONE) -> Validation:
    """Mean error and traces over all windows, in full precision, shared out over the group."""
    model.eval()
    first, last, weight = group.part(len(windows))
    share = replace(windows, starts=windows.starts[first:last])
    error = torch.zeros((), device=windows.values.device)
    traces: dict[str, torch.Tensor] = {}
    for which in share.batches(batch_size):
        evidence = model.assess(share.take(which))
        error += evidence.error[:, model.context :].mean(dim=(1, 2)).sum()
        for name, values in evidence.traces.items():
            mean = values[:, model.context :].mean(dim=1)
            traces[name] = traces.get(name, torch.zeros_like(error)) + mean.sum()
    totals = torch.stack([error, *traces.values()])
    if not weight:
        # these windows belong to other processes
        totals.zero_()
    group.add([totals])
    mean, *trace_means = (total / len(windows) for total in totals.tolist())
    return Validation(mean, dict(zip(traces, trace_means, strict=True)))


def is_over(deadline: float, clock: Callable[[], float], group: Group) -> bool:
    """Whether the deadline has passed by the clock of any process: all must stop together."""
    return deadline < math.inf and any(group.gather(clock() >= deadline))


def _progress(epochs: int, epoch: int, steps: int, step: int, note: str = "") -> Progress:
    note = f"epoch {epoch} of at most {epochs}" + (f", {note}" if note else "")
    return Progress("training", (epoch - 1) * steps + step, epochs * steps, "steps", note)


def _seeds(seed: int, epoch: int) -> tuple[int, int]:
    """Seeds of an epoch: for the order of the windows, and for the network's random numbers."""
    order, draws = np.random.SeedSequence([seed, epoch]).generate_state(2, dtype=np.uint64)
    return int(order >> np.uint64(1)), int(draws >> np.uint64(1))
