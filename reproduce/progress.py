"""The progress of runs: how many are done, and what is running."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from reproduce.run import Run
from subadjacent.cli.output import tell
from subadjacent.cli.progress import Bar

if TYPE_CHECKING:
    from reproduce.runner import RunEvent

SECONDS_BETWEEN_LINES = 60.0
"""Between two lines where there is no terminal to draw a bar on."""


def in_words(seconds: float) -> str:
    """Rounded: ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


class RunProgress:
    """Reports how many runs are done and what is running."""

    def __init__(self, bar: Bar, *, quiet: bool) -> None:
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
        words = self.words(step)
        self._bar.update(step.done, step.total, words)
        if not self._quiet and time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            tell(words)

    def words(self, step: RunEvent) -> str:
        """The progress in one line."""
        done = f"{step.done} of {step.total} runs"
        return " · ".join([done, *(run.describe() for run in self._running)])
