"""Processes that this one has started, found by name and killed for good."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def kill_workers(names: tuple[str, ...]) -> list[int]:
    """Kill every descendant of this process whose name begins so; those that were killed.

    Other clusters may run on this machine: theirs are left alone.
    """
    found = [number for number, called in _descendants().items() if called.startswith(names)]
    for number in found:
        # it may have ended by itself meanwhile
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return found


def _descendants() -> dict[int, str]:
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # the name in brackets may hold anything
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
            names[int(folder.name)] = (folder / "cmdline").read_text()
    return {
        number: name
        for number, name in names.items()
        if number != os.getpid() and _stands_above(os.getpid(), number, parents)
    }


def _stands_above(ancestor: int, number: int, parents: dict[int, int]) -> bool:
    while number in parents and number != ancestor:
        number = parents[number]
    return number == ancestor
