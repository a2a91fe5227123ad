"""The progress of runs: what is running, and how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from reproduce.run import Run
from subadjacent.cli.progress import Bar, say

if TYPE_CHECKING:
    from reproduce.runner import RunEvent

SECONDS_BETWEEN_LINES = 60.0
"""Between two lines where there is no terminal to draw a bar on."""


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


class RunProgress:
    """Reports what is running and how long the rest will take."""

    def __init__(self, runs: tuple[Run, ...], jobs: int, bar: Bar, *, quiet: bool) -> None:
        self._left = TimeLeft(runs, jobs)
        self._running: dict[Run, None] = {}
        self._bar = bar
        # a log gets a line a minute, where a terminal gets a bar
        self._quiet = quiet or sys.stderr.isatty()
        self._said = time.monotonic()

    def __call__(self, step: RunEvent) -> None:
        """Take note that a run has begun or ended."""
        if step.begun:
            self._running[step.run] = None
        else:
            self._running.pop(step.run, None)
            self._left.done(step.run, step.seconds)
        words = self.words(step)
        self._bar.update(step.done, step.total, words)
        if not self._quiet and time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            say(words)

    def words(self, step: RunEvent) -> str:
        """The progress in one line."""
        left = self._left.seconds()
        phrases = [f"{step.done} of {step.total} runs"]
        phrases += [f"about {in_words(left)} left"] if left is not None else []
        phrases += [run.describe() for run in self._running]
        return " · ".join(phrases)
