"""Work of a GPU, recorded once and replayed.

A network is many short kernels, and it takes longer to ask a GPU for each than to run it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from subadjacent.model.network import Network, Reconstruction

# runs of one kernel at a time before the recording: they build state, and the kernels
WARM_UP = 3

T = TypeVar("T")


class Recorded(Generic[T]):
    """A function without arguments that is recorded on its fourth call, and replayed after.

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
            found = self.function()
        main.wait_stream(side)
        return found

    def _record(self) -> None:
        self.before()
        graph = torch.cuda.CUDAGraph()
        with self.around(), torch.cuda.graph(graph):
            self.found = self.function()
        self.graph = graph


class RecordedForward:
    """A network's reconstruction of batches of one shape, recorded; any other runs as it is.

    What it returns is overwritten by the next call. On a CPU it is the network itself.
    """

    def __init__(self, model: Network, autocast: torch.autocast | None = None) -> None:
        self.model = model
        self.autocast = autocast or nullcontext()
        self.batch: Tensor | None = None
        self.replay: Recorded[Reconstruction] | None = None

    @torch.inference_mode()
    def __call__(self, windows: Tensor) -> Reconstruction:
        """Reconstruct (B, N, C)."""
        if not windows.is_cuda:
            return self._run(windows)
        if self.batch is None or self.replay is None:
            self.batch = batch = windows.clone()
            self.replay = Recorded(lambda: self._run(batch))
        if windows.shape != self.batch.shape:
            return self._run(windows)
        self.batch.copy_(windows)
        return self.replay()

    def _run(self, windows: Tensor) -> Reconstruction:
        with self.autocast:
            found: Reconstruction = self.model(windows)
        return found
