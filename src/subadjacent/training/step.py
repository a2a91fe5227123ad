"""One step of training: objective, gradients, weights.

A step is many short kernels, and on a GPU it takes longer to ask for each than to run it. There
the step is recorded once, as a CUDA graph, and replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import torch
from torch import Tensor, nn

from subadjacent.model.network import Network, Objective

# steps run one kernel at a time before the recording: they build Adam's state, and the kernels
WARM_UP = 3
# compiling takes about half a minute; it pays back over so many steps
WORTH_COMPILING = 8000

Step = Callable[[Tensor], Objective]


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

    What it returns is overwritten by the next call. ``compiled`` fuses the layers' kernels,
    where there is a GPU, Triton and a network made for it.
    """

    def step(batch: Tensor) -> Objective:
        with torch.enable_grad(), autocast:
            loss, contribution = model.objective(batch, attention_weight)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()
        return Objective(loss.detach(), contribution.detach())

    if any("capturable" in group and group["capturable"] for group in optimizer.param_groups):
        fused = compiled and model.layered and find_spec("triton") is not None
        return _Recorded(model, optimizer, step, batch_size, compiled=fused)
    return step


class _Recorded:
    """Runs a few steps as they are, records one, and replays that from then on.

    Batches of another size than the recorded one run as they are.
    """

    def __init__(
        self,
        model: Network,
        optimizer: torch.optim.Optimizer,
        step: Step,
        batch_size: int,
        *,
        compiled: bool,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.step = step
        self.batch_size = batch_size
        self.compiled = compiled
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Tensor) -> Objective:
        if len(batch) != self.batch_size:
            return self.step(batch)
        if self.graph is None:
            if self.calls < WARM_UP:
                return self._warm_up(batch)
            self._record(batch)
        assert self.graph is not None
        self.batch.copy_(batch)
        self.graph.replay()
        return self.found

    def _warm_up(self, batch: Tensor) -> Objective:
        self.calls += 1
        # not on the main stream: what autograd sets up there cannot be recorded later
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch says nothing
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side), _fused_layers(self.model, self.compiled):
            found = self.step(batch)
        main.wait_stream(side)
        return found

    def _record(self, batch: Tensor) -> None:
        self.batch = batch.clone()
        # gradients are made anew inside the graph's own memory
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with _fused_layers(self.model, self.compiled), torch.cuda.graph(graph):
            self.found = self.step(self.batch)
        self.graph = graph


@contextmanager
def _fused_layers(model: Network, compiled: bool) -> Iterator[None]:
    """Swap every layer for its compiled form while a step is run or recorded.

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
