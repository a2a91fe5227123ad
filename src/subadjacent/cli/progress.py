"""A progress bar for work of more than two seconds, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from subadjacent.showing import visible

if TYPE_CHECKING:
    from subadjacent.runtime import Progress

PATIENCE = 2.0


class Bar:
    """Shows progress and the time left; silent for the first two seconds."""

    def __init__(self, what: str, *, quiet: bool) -> None:
        self._what = what
        self._silent = quiet or not sys.stderr.isatty()
        self._started = time.monotonic()
        self._bar: object | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]  # rich is imported only when needed

    def wait(self) -> None:
        """Show an indeterminate bar: the progress of this work is not known."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._silent:
            self._timer = threading.Timer(PATIENCE, self.update, (0, None))
            self._timer.daemon = True
            self._timer.start()

    def update(
        self, done: float, total: float | None, remark: str = "", what: str | None = None
    ) -> None:
        """Show the progress; ``what`` names a new stage."""
        self._what = visible(what or self._what)
        remark = visible(remark)
        if self._silent or time.monotonic() - self._started < PATIENCE:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        if self._bar is None:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[remark]}", markup=False),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._what, total=total, remark=remark)
            self._bar.start()
        assert isinstance(self._bar, Progress)
        task = self._bar.task_ids[0]
        if self._bar.tasks[0].description != self._what:
            # another stage: its time left does not follow from the pace of the one before
            self._bar.reset(task, description=self._what)
        self._bar.update(task, completed=done, total=total, remark=remark)

    def watch(self, progress: Progress) -> None:
        """Follow a piece of the library's work, stage by stage."""
        from subadjacent.runtime import in_words

        if not progress.total:
            # nothing more may come for long: show the stage by itself
            self.wait()
        self.update(progress.done, progress.total or None, in_words(progress), what=progress.stage)
