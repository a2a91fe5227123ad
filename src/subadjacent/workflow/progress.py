"""The progress of work, in words for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from subadjacent.runtime import Progress, Watch


@contextmanager
def uncounted(stage: str, watch: Watch) -> Iterator[None]:
    """Tell ``watch`` of the begin and end of work whose progress in between is not known."""
    watch(Progress(stage, 0, 0, ""))
    yield
    watch(Progress(stage, 1, 1, ""))


def share_done(progress: Progress) -> float | None:
    """From 0 to 1; None where it is not known."""
    return min(progress.done / progress.total, 1.0) if progress.total else None


def in_words(progress: Progress) -> str:
    """Such as "25% of 1,200 rows, epoch 2"; empty where nothing is known."""
    share = share_done(progress)
    counted = ""
    if share is not None and progress.unit:
        counted = f"{int(100 * share)}% of {progress.total:,} {progress.unit}"
    return ", ".join(part for part in (counted, progress.note) if part)
