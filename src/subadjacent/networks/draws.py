"""Random numbers for a batch of windows, or for this process's share of it.

Several processes that train one network each hold some windows of a batch. All of them draw the
numbers of the whole batch, by generators with the same seed, and keep those of their own windows:
a window gets the same numbers however many processes there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

# first window of the part, the one after its last, and windows of the whole batch
_PART: ContextVar[tuple[int, int, int] | None] = ContextVar("part of a batch", default=None)


@contextmanager
def part_of_batch(first: int, last: int, whole: int) -> Iterator[None]:
    """Draw for windows ``first`` to ``last`` (exclusive) of a batch of ``whole``."""
    before = _PART.set((first, last, whole))
    try:
        yield
    finally:
        _PART.reset(before)


def standard_normal(
    shape: Sequence[int], device: torch.device, dtype: torch.dtype | None = None
) -> Tensor:
    """Numbers of mean 0 and deviation 1; the first dimension of the shape counts windows."""
    count, *sizes = shape
    first, last, whole = _PART.get() or (0, count, count)
    return torch.randn(whole, *sizes, device=device, dtype=dtype)[first:last]
