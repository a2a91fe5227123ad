"""Processes agree on a name of their own, whatever earlier ones left behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch.distributed as dist

from subadjacent.training.meeting import agree


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_agree_and_the_next_ones_on_another_name(size: int) -> None:
    # one for all, as the launcher keeps it: what the first three left is found by the others
    store = dist.HashStore()
    names = []
    for late in (None, 0, size - 1):
        with ThreadPoolExecutor(size) as threads:
            order = [rank for rank in range(size) if rank != late]
            found = [threads.submit(agree, store, rank, size) for rank in order]
            if late is not None:
                found.append(threads.submit(agree, store, late, size))
            (name,) = {one.result() for one in found}
        names.append(name)
    assert len(set(names)) == 3
