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

# seconds between two checks by the first process
PAUSE = 0.02


class SharedStore(Protocol):
    """A store that all processes read and write."""

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


def agree(store: SharedStore, rank: int, size: int) -> str:
    """Agree on a name that all processes share with each other, and with no earlier group.

    Each process writes a random word, and the first process answers it with the name. It may also
    answer a word left by a process that has ended, but only a live one confirms the answer.
    """
    word = secrets.token_hex(8)
    if rank:
        store.set(f"here/{rank}", word)
        name = store.get(f"answer/{word}").decode()
        store.set(f"noted/{name}/{rank}", "")
        return name
    missing = list(range(1, size))
    while missing:
        for other in missing:
            if store.check([f"here/{other}"]):
                store.set(f"answer/{store.get(f'here/{other}').decode()}", word)
        missing = [other for other in missing if not store.check([f"noted/{word}/{other}"])]
        time.sleep(PAUSE)
    return word
