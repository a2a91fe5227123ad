"""Which replica a series belongs to, and where a replica keeps what it knows.

Replica 0 has the data folder itself, so that a service without replicas is replica 0 of one; the
others have a folder in it each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from subadjacent.durable import lock, opened
from subadjacent.service.schema import FILE

HOME = re.compile(r"replica-([1-9]\d*)")
LOCK = "replica.lock"


def owner(name: str, count: int) -> int:
    """The number of the replica that a series belongs to, of so many.

    Each replica draws a number for the series, and the highest wins: with one more, or one fewer,
    only the series move that the new one wins, or the last one had.
    """
    return max(range(count), key=lambda replica: _draw(name, replica))


def _draw(name: str, replica: int) -> bytes:
    return blake2b(f"{replica}/{name}".encode(errors="surrogatepass"), digest_size=8).digest()


def home(folder: Path, replica: int) -> Path:
    """The folder of a replica."""
    return folder if replica == 0 else folder / f"replica-{replica}"


def homes(folder: Path) -> dict[int, Path]:
    """The folders of replicas that have been here, by their numbers."""
    found = {0: folder} if (folder / FILE).is_file() else {}
    for place in folder.iterdir():
        name = HOME.fullmatch(place.name)
        if name is not None and (place / FILE).is_file():
            found[int(name[1])] = place
    return dict(sorted(found.items()))


@contextmanager
def alone_in(place: Path) -> Iterator[None]:
    """Have the folder of a replica for oneself; wait for a process that still ends in it."""
    place.mkdir(parents=True, exist_ok=True)
    (place / LOCK).touch()
    with opened(place / LOCK) as handle:
        if handle is not None:
            lock(handle, wait=True)
        yield
