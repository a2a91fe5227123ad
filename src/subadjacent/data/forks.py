"""Refuse polars in a forked process, where it would wait for ever.

A fork has the memory of the process that it came from, and of its threads only the one that
forked. polars hands work to threads that it started before, and waits for them.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from subadjacent.errors import SubAdjacentError

THREADS = Path("/proc/self/task")
"""Where Linux lists the threads of a process."""
WORKER = re.compile(r"polars-\d+\n")
"""What polars calls the threads that it hands work to; it starts them with the first work."""


class _Forks:
    """Whether this process lacks threads that polars believes to be there."""

    def __init__(self) -> None:
        self.started = self.lost = False

    def before(self) -> None:
        """Note, in the process that forks, whether polars has started its threads."""
        self.started = "polars" in sys.modules and _has_workers()

    def after_in_child(self) -> None:
        """Keep that note in the forked process."""
        self.lost = self.lost or self.started


FORKS = _Forks()
# there is none on systems that do not fork
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=FORKS.before, after_in_child=FORKS.after_in_child)


def refuse_lost_threads() -> None:
    """Refuse to work with polars where it would wait for ever."""
    if FORKS.lost:
        raise SubAdjacentError(
            "polars, which reads files and polars frames, cannot be used in a process that was "
            "forked from one that had used it; start processes by "
            'multiprocessing.get_context("spawn"), or hand them NumPy arrays'
        )


def _has_workers() -> bool:
    if not THREADS.is_dir():
        # not known: it may have started them
        return True
    for thread in THREADS.iterdir():
        # one that has just ended has no name any more
        with suppress(OSError):
            if WORKER.fullmatch((thread / "comm").read_text()):
                return True
    return False
