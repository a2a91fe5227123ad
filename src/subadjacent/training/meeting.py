"""How the processes of a group find each other, again after one of them was killed.

``torchrun`` starts all of them anew, but keeps the store by which they tell each other their
addresses, and in it the addresses of those that are gone. So they first agree on a name that no
earlier group had, and keep their addresses under it.
"""

from __future__ import annotations

import secrets
import time
from typing import Protocol

import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

# seconds between two looks of the first process at who is there
PAUSE = 0.02


class Store(Protocol):
    """What a process writes there, all can read."""

    def set(self, key: str, value: str, /) -> None:
        """Write."""

    def get(self, key: str, /) -> bytes:
        """Read, and wait until there is something to read."""

    def check(self, keys: list[str], /) -> bool:
        """Whether all of these were written."""


def connect(backend: str) -> None:
    """Connect this process with the others, as the launcher's environment says."""
    # an optimiser imports this module, whose functions keep the group that they find as a default:
    # one found later is never freed, and its threads abort the process as Python ends
    import torch.distributed.nn.functional  # noqa: F401

    store, rank, size = next(rendezvous("env://"))
    # torch does not name it to type checkers
    place = dist.PrefixStore(agree(store, rank, size), store)  # type: ignore[attr-defined]
    dist.init_process_group(backend, store=place, rank=rank, world_size=size)


def agree(store: Store, rank: int, size: int) -> str:
    """A name that the processes have in common with each other, and with no earlier ones.

    Each shows a word of its own, and the first process answers to it. A word that was left by a
    process that is gone may be answered too, but only one that is there takes note.
    """
    word = secrets.token_hex(8)
    if rank:
        store.set(f"here/{rank}", word)
        name = store.get(f"answer/{word}").decode()
        store.set(f"noted/{name}/{rank}", "")
        return name
    missing = list(range(1, size))
    while missing:
        for one in missing:
            if store.check([f"here/{one}"]):
                store.set(f"answer/{store.get(f'here/{one}').decode()}", word)
        missing = [one for one in missing if not store.check([f"noted/{word}/{one}"])]
        time.sleep(PAUSE)
    return word
