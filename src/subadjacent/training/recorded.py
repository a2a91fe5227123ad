"""Training steps recorded once on a GPU, as a CUDA graph, and replayed.

A step is many short kernels, and a GPU takes longer to launch each than to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from subadjacent.data.windows import Windows
from subadjacent.networks.network import Network
from subadjacent.training.group import ALONE, Group
from subadjacent.training.step import Optimizers, Pass, Step, plain_step

# runs of one kernel at a time before the recording: they build state, and the kernels
WARM_UP = 3
# steps of training over which compiling, about half a minute, pays back
WORTH_COMPILING = 8000

T = TypeVar("T")


def make_pass(
    model: Network,
    windows: Windows,
    optimizers: Optimizers,
    autocast: torch.autocast,
    batch_size: int,
    *,
    compiled: bool = False,
    group: Group = ALONE,
) -> Pass:
    """A pass over all windows, recorded as a CUDA graph where possible.

    Recorded where the optimisers are of the kind that can be, the network allows it, and no other
    process has a part in the step: messages between processes are not recorded.
    ``compiled`` then fuses the layers' kernels, where there is Triton and a layered network.
    """
    step = plain_step(model, optimizers, autocast, group)
    options = [
        group_options for optimizer in optimizers for group_options in optimizer.param_groups
    ]
    capturable = all(group_options.get("capturable", False) for group_options in options)
    if not (model.recordable and capturable and group.size == 1):
        return Pass(step, windows, batch_size, group)
    return RecordedPass(model, optimizers, step, windows, batch_size, compiled)


class RecordedPass(Pass):
    """A pass recorded as a CUDA graph: choosing windows, gathering them, and the training step.

    Nothing is copied to the device in a step, nor waited for. The last batch of an epoch may be
    a smaller one and runs as it is.
    """

    def __init__(
        self,
        model: Network,
        optimizers: Optimizers,
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
        self.model = model
        self.optimizers = optimizers
        self.fused = compiled and model.layered and find_spec("triton") is not None
        self.replay = self._recorder()

    def begin(self, epoch: int, generator: torch.Generator) -> None:
        """Begin an epoch, its windows shuffled by the generator."""
        if epoch != self.epoch and not self.model.steady:
            self.replay = self._recorder()
        self.epoch = epoch
        self.losses.zero_()
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

    def _recorder(self) -> Recorded[None]:
        def forget_gradients() -> None:
            for optimizer in self.optimizers:
                optimizer.zero_grad(set_to_none=True)

        return Recorded(
            self._next,
            around=lambda: _compiled_layers(self.model, self.fused),
            # gradients are made anew inside the recording's own memory
            before=forget_gradients,
        )

    def _next(self) -> None:
        which = self.order[self.at + self.places]
        self.at += self.batch_size
        self.train_on(which)


class Recorded(Generic[T]):
    """A function without arguments, recorded as a CUDA graph on its fourth call, then replayed.

    It must read and write the same tensors in every call. What it returns is overwritten by the
    next one. ``around`` gives a context to run and record in; ``before`` is called just before
    the recording.
    """

    def __init__(
        self,
        function: Callable[[], T],
        *,
        around: Callable[[], AbstractContextManager[Any]] = nullcontext,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self.function = function
        self.around = around
        self.before = before
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> T:
        """Run, record or replay the function."""
        if self.graph is None:
            if self.calls < WARM_UP:
                return self._warm_up()
            self._record()
        assert self.graph is not None
        self.graph.replay()
        return self.found

    def _warm_up(self) -> T:
        self.calls += 1
        # not on the main stream: what autograd sets up there cannot be recorded later
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch says nothing
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side), self.around():
            result = self.function()
        main.wait_stream(side)
        return result

    def _record(self) -> None:
        self.before()
        graph = torch.cuda.CUDAGraph()
        with self.around(), torch.cuda.graph(graph):
            self.found = self.function()
        self.graph = graph


@contextmanager
def _compiled_layers(model: Network, compiled: bool) -> Iterator[None]:
    """A context in which every layer of the network is replaced by its compiled form.

    A network with fused kernels of our own does not use its layers: nothing is compiled.

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
