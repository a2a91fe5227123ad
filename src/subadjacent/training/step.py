"""One step of training: objective, gradients, weights.

On a GPU a step is recorded once, as a CUDA graph, and replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeVar

import torch
from torch import Tensor, nn

from subadjacent.data.windows import Windows
from subadjacent.model.network import Network, Objective
from subadjacent.model.recorded import Recorded

# compiling takes about half a minute; it pays back over so many steps
WORTH_COMPILING = 8000

Step = Callable[[Tensor], Objective]
T = TypeVar("T")


def make_optimizer(model: Network, learning_rate: float) -> torch.optim.Optimizer:
    """Adam; on a GPU in the form that can be recorded, with its learning rate in a tensor."""
    device = next(model.parameters()).device
    if device.type != "cuda":
        return torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    rate = torch.tensor(learning_rate, device=device)
    return torch.optim.Adam(model.parameters(), lr=rate, fused=True, capturable=True)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Change the rate, in place where a recorded step reads it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def make_step(
    model: Network,
    optimizer: torch.optim.Optimizer,
    autocast: torch.autocast,
    attention_weight: float,
    batch_size: int,
    *,
    compiled: bool = False,
) -> Step:
    """A function that trains on one batch, and returns what the objective came to.

    What it returns is overwritten by the next call. On a GPU it is recorded for batches of
    ``batch_size``; others run as they are. ``compiled`` fuses the layers' kernels, where there
    is a GPU, Triton and a network made for it.
    """
    step = _plain_step(model, optimizer, autocast, attention_weight)
    if not _recordable(optimizer):
        return step
    return _RecordedStep(model, optimizer, step, batch_size, compiled)


def make_pass(
    model: Network,
    windows: Windows,
    optimizer: torch.optim.Optimizer,
    autocast: torch.autocast,
    attention_weight: float,
    batch_size: int,
    *,
    compiled: bool = False,
) -> Pass:
    """Steps over all the windows, one epoch after the other."""
    step = _plain_step(model, optimizer, autocast, attention_weight)
    if not _recordable(optimizer):
        return Pass(step, windows, batch_size)
    return RecordedPass(model, optimizer, step, windows, batch_size, compiled)


def _plain_step(
    model: Network,
    optimizer: torch.optim.Optimizer,
    autocast: torch.autocast,
    attention_weight: float,
) -> Step:
    def step(batch: Tensor) -> Objective:
        with torch.enable_grad(), autocast:
            loss, contribution = model.objective(batch, attention_weight)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()
        return Objective(loss.detach(), contribution.detach())

    return step


def _recordable(optimizer: torch.optim.Optimizer) -> bool:
    return any(group.get("capturable", False) for group in optimizer.param_groups)


class Pass:
    """Trains batch after batch, and adds up what the batches of an epoch come to.

    The sums stay on the device: to read them every step would make it wait.
    """

    def __init__(self, step: Step, windows: Windows, batch_size: int) -> None:
        self.step = step
        self.windows = windows
        self.batch_size = batch_size
        self.losses = torch.zeros((), device=windows.values.device)
        self.contributions = torch.zeros_like(self.losses)
        self.batches: Iterator[Tensor] = iter(())

    def begin(self, generator: torch.Generator) -> None:
        """Begin an epoch, its windows in an order of the generator's."""
        self.losses.zero_()
        self.contributions.zero_()
        self.batches = self.windows.batches(self.batch_size, generator)

    def advance(self) -> None:
        """Train on the next batch of the epoch."""
        self.train_on(next(self.batches))

    def train_on(self, which: Tensor) -> None:
        """Train on some windows."""
        loss, contribution = self.step(self.windows.take(which))
        self.losses += loss
        self.contributions += contribution.mean()


class RecordedPass(Pass):
    """A pass whose step is recorded with all that it takes: which windows, and gathering them.

    Nothing is copied to the device in a step, nor waited for. The last batch of an epoch may be
    a smaller one and runs as it is.
    """

    def __init__(
        self,
        model: Network,
        optimizer: torch.optim.Optimizer,
        step: Step,
        windows: Windows,
        batch_size: int,
        compiled: bool,
    ) -> None:
        super().__init__(step, windows, batch_size)
        self.order = torch.zeros_like(windows.starts)
        self.at = torch.zeros((), dtype=torch.long, device=self.order.device)
        self.places = torch.arange(batch_size, device=self.order.device)
        self.left = 0
        self.replay = _recorded(model, optimizer, self._next, compiled)

    def begin(self, generator: torch.Generator) -> None:
        """Begin an epoch, its windows in an order of the generator's."""
        self.losses.zero_()
        self.contributions.zero_()
        self.order.copy_(self.windows.order(generator))
        self.at.zero_()
        self.left = len(self.order)

    def advance(self) -> None:
        """Train on the next batch of the epoch."""
        if self.left >= self.batch_size:
            self.replay()
        else:
            self.train_on(self.order[-self.left :])
        self.left -= self.batch_size

    def _next(self) -> None:
        which = self.order[self.at + self.places]
        self.at += self.batch_size
        self.train_on(which)


class _RecordedStep:
    """A step on a batch from outside, recorded for batches of one size."""

    def __init__(
        self,
        model: Network,
        optimizer: torch.optim.Optimizer,
        step: Step,
        batch_size: int,
        compiled: bool,
    ) -> None:
        self.step = step
        self.batch_size = batch_size
        self.batch: Tensor | None = None
        self.replay = _recorded(model, optimizer, self._again, compiled)

    def __call__(self, batch: Tensor) -> Objective:
        if len(batch) != self.batch_size:
            return self.step(batch)
        if self.batch is None:
            self.batch = batch.clone()
        self.batch.copy_(batch)
        return self.replay()

    def _again(self) -> Objective:
        assert self.batch is not None
        return self.step(self.batch)


def _recorded(
    model: Network, optimizer: torch.optim.Optimizer, function: Callable[[], T], compiled: bool
) -> Recorded[T]:
    fused = compiled and model.layered and find_spec("triton") is not None
    return Recorded(
        function,
        around=lambda: _fused_layers(model, fused),
        # gradients are made anew inside the recording's own memory
        before=lambda: optimizer.zero_grad(set_to_none=True),
    )


@contextmanager
def _fused_layers(model: Network, compiled: bool) -> Iterator[None]:
    """Swap every layer for its compiled form while a step is run or recorded.

    A network that runs in kernels of our own does not get to its layers: nothing is compiled.

    Layer by layer and not the whole network: layers know nothing of channels, bands on short
    windows or loss, so that one compilation serves every layer and every network of that width.
    """
    if not compiled:
        yield
        return
    layers = model.get_submodule("layers")
    assert isinstance(layers, nn.ModuleList)
    plain = list(layers)
    for number, layer in enumerate(plain):
        layers[number] = torch.compile(layer)  # type: ignore[assignment]  # a module it is
    try:
        yield
    finally:
        for number, layer in enumerate(plain):
            layers[number] = layer
