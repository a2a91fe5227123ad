"""When the next question is due: with the next row, or sooner after one that failed."""

from __future__ import annotations

from dataclasses import dataclass

from subadjacent.service.watch.grid import MILLISECONDS, wait_for_next
from subadjacent.service.watch.settings import Query

LONGEST_RETRY = 60 * MILLISECONDS
"""Between two tries: a server that is back is noticed within a minute."""

TOO_OLD_ROWS, TOO_OLD = 5, 300 * MILLISECONDS
"""Behind by both, a score is not shown any more; the server shows its own values as long."""

SAVE_EVERY = 300 * MILLISECONDS
"""Between two times that what was learned is kept: so much is asked for again after a crash."""


@dataclass
class Schedule:
    """The turns of one query."""

    query: Query
    failures: int = 0
    saved_at: int | None = None

    def answered(self, now: int) -> int:
        """Milliseconds until the next row is due."""
        self.failures = 0
        return wait_for_next(now, self.query.step, self.query.offset)

    def failed(self) -> int:
        """Milliseconds until the next try: 1 s, 2 s, 4 s and so on, up to a minute."""
        self.failures += 1
        doubled: int = MILLISECONDS << min(self.failures - 1, 16)
        return min(doubled, LONGEST_RETRY)

    def too_old(self, now: int, clock: int | None) -> bool:
        """Whether the latest row is from so long ago that it says nothing of now."""
        behind = now - self.query.offset - (clock or 0)
        return behind > max(TOO_OLD, TOO_OLD_ROWS * self.query.step)

    def should_save(self, now: int) -> bool:
        """Whether what was learned is to be kept again; the first time at once."""
        due = self.saved_at is None or now - self.saved_at >= SAVE_EVERY
        if due:
            self.saved_at = now
        return due
