"""How far a piece of work has come, in words that a person can follow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from subadjacent.runtime import Progress, Watch


@contextmanager
def uncounted(stage: str, watch: Watch) -> Iterator[None]:
    """Tell ``watch`` when work begins and ends that cannot say how far it is in between."""
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
