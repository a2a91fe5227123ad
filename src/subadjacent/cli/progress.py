"""A progress bar for what takes more than two seconds, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

import typer

if TYPE_CHECKING:
    from subadjacent.runtime import Progress

PATIENCE = 2.0


class Bar:
    """Shows how far something is and how long it will take; silent for the first two seconds."""

    def __init__(self, what: str, *, quiet: bool, clock: bool = True) -> None:
        self._what = what
        # whoever knows better how long it will take says so in the remark
        self._clock = clock
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
        """Show that something goes on which cannot tell how far it is."""
        if not self._silent:
            self._timer = threading.Timer(PATIENCE, self.update, (0, None))
            self._timer.daemon = True
            self._timer.start()

    def update(self, done: float, total: float | None, remark: str = "") -> None:
        """Say how far it is."""
        if self._silent or time.monotonic() - self._started < PATIENCE:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        if self._bar is None:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[remark]}"),
                *([TimeRemainingColumn()] if self._clock else []),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._what, total=total, remark=remark)
            self._bar.start()
        assert isinstance(self._bar, Progress)
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, remark=remark)

    def counting(self, done: int, total: int, what: str) -> None:
        """Watch something that counts."""
        self.update(done, total, f"{100 * done // max(total, 1)}% of {what}")

    def training(self, progress: Progress) -> None:
        """Watch a training."""
        self.update(progress.done, progress.total, progress.note)


def say(text: str, *, quiet: bool = False) -> None:
    """A remark for people, on standard error."""
    if not quiet:
        typer.echo(text, err=True)
