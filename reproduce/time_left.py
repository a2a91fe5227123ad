"""Estimate how long the remaining runs take, from the runs made so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from reproduce.run import Run


class TimeLeft:
    """Mean seconds of similar runs.

    A random score takes no time and a network on the largest dataset takes minutes, so that one
    mean over all runs would be wrong for most of them. A run is expected to take the mean of the
    runs with its detector, dataset and protocol; if there are none, of those with its dataset
    and protocol, then with its protocol, then of all.
    """

    def __init__(self, runs: Iterable[Run], jobs: int = 1) -> None:
        self._left = set(runs)
        self._jobs = jobs
        self._seen: dict[Hashable, list[float]] = defaultdict(list)

    def done(self, run: Run, seconds: float) -> None:
        """Record how long a run took."""
        self._left.discard(run)
        for kind in _kinds(run):
            self._seen[kind].append(seconds)

    def seconds(self) -> float | None:
        """Expected seconds until all runs are made; None before the first has ended."""
        if not self._seen:
            return None
        return sum(map(self._expected, self._left)) / max(min(self._jobs, len(self._left)), 1)

    def _expected(self, run: Run) -> float:
        known = next(kind for kind in _kinds(run) if kind in self._seen)
        return float(np.mean(self._seen[known]))


def _kinds(run: Run) -> Iterator[Hashable]:
    """Groups that a run belongs to, from the most similar runs to all."""
    yield run.detector, run.dataset, run.protocol, run.per_entity
    yield run.dataset, run.protocol
    yield run.protocol
    yield ()


def in_words(seconds: float) -> str:
    """Rounded: ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"
