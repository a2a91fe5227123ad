"""The processes that train one network together, each on its share of every batch.

They are started by ``torchrun``, one for each GPU or each few cores. All do the
same work, with the exceptions here: a batch is shared out, gradients are added up, and the first
process alone writes files and logs. A process that was started alone is a group of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from subadjacent.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


class BatchShare(NamedTuple):
    """A process's share of a batch: windows ``first`` to ``last`` (exclusive).

    ``weight`` is its share of the whole. A process for which no window is left takes the
    first one, with no weight: it then runs, and draws at random, as the others do.
    """

    first: int
    last: int
    weight: float


@dataclass(frozen=True, slots=True)
class Group:
    """Processes that train together, as one of them sees it.

    Parameters
    ----------
    rank
        The number of this process; 0 is the one that writes files and logs.
    size
        How many there are.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes files and logs."""
        return self.rank == 0

    def part(self, count: int) -> BatchShare:
        """The share of ``count`` windows that this process takes: at least one."""
        first, last = (count * place // self.size for place in (self.rank, self.rank + 1))
        return (
            BatchShare(first, last, (last - first) / count)
            if first < last
            else BatchShare(0, 1, 0.0)
        )

    def add(self, tensors: Sequence[Tensor]) -> None:
        """Sum these tensors over all processes, in place, in one message."""
        if self.size == 1:
            return
        import torch
        import torch.distributed as dist

        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        dist.all_reduce(flat)
        totals = torch.split(flat, [tensor.numel() for tensor in tensors])
        for tensor, total in zip(tensors, totals, strict=True):
            tensor.copy_(total.view_as(tensor))

    def gather(self, value: T) -> list[T]:
        """The value of each process, in the order of their numbers."""
        if self.size == 1:
            return [value]
        import torch.distributed as dist

        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def led(self, function: Callable[[], T]) -> T:
        """Call a function in the first process alone; all return its result, or raise its error."""
        if self.size == 1:
            return function()
        import torch.distributed as dist

        outcome: list[Any] = [None]
        if self.leads:
            try:
                outcome = [(function(), None)]
            except Exception as error:
                outcome = [(None, error)]
        dist.broadcast_object_list(outcome, src=0)
        result: T
        result, raised = outcome[0]
        if raised is not None:
            raise raised
        return result


ALONE = Group()
_here = ALONE


def current() -> Group:
    """The group that this process has joined, or a group of this process alone."""
    return _here


@contextmanager
def joined() -> Iterator[Group]:
    """Join the group that ``torchrun`` or Ray Train started this process in, if any.

    Every network that is fitted inside is trained by all processes of the group together, so all
    of them must fit the same, on the same rows.
    """
    global _here
    rank, size = _number("RANK", 0), _number("WORLD_SIZE", 1)
    if size == 1 or _here.size > 1:
        yield _here
        return
    import torch.distributed as dist

    from subadjacent.training.device import take_gpu
    from subadjacent.training.meeting import connect

    # Ray Train has connected its processes already
    connected = dist.is_initialized()
    nccl = take_gpu(_number("LOCAL_RANK", 0), _number("LOCAL_WORLD_SIZE", 1))
    if not connected:
        connect("cpu:gloo,cuda:nccl" if nccl else "gloo")
    _here = Group(rank, size)
    try:
        yield _here
        # all wait until the first process has written its files
        _here.gather(None)
    finally:
        _here = ALONE
        if not connected:
            dist.destroy_process_group()


def _number(name: str, otherwise: int) -> int:
    """A number that the launcher has put into the environment."""
    text = os.environ.get(name, str(otherwise))
    if not text.isdecimal():
        raise InputError(f"{name} must be a whole number, as torchrun sets it; got {text!r}")
    return int(text)
