"""Which rows of a stream are accepted, and where a segment begins.

docs/streaming.md has a table of the rules for times. Those on gaps are the rules of
``data.clock``, with the interval known so far.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subadjacent.data.clock import IRREGULAR, compare_steps, find_order, median_step
from subadjacent.data.times import Times, Unit, read_times
from subadjacent.errors import InputError

log = logging.getLogger(__name__)

NAMELESS = "rows"
"""What messages call a series without a name."""

STEPS_KEPT = 100
"""Latest steps from row to row whose median is the interval. A clock that slows down permanently is
followed after half as many rows; until then each of its rows is a segment by itself."""


class AcceptedRows(NamedTuple):
    """Places of the accepted rows among the new ones, and which of them begin a segment.

    ``skipped`` counts the rows that are missing before one that begins a segment.
    """

    places: NDArray[np.intp]  # (B,)
    starts: NDArray[np.bool_]  # (B,)
    skipped: NDArray[np.int64]  # (B,)


@dataclass(slots=True)
class Counts:
    """Rows of a series that were accepted or dropped so far.

    Parameters
    ----------
    accepted
        Rows that were scored.
    late
        Rows older than the last accepted one: dropped.
    duplicates
        Rows of the same time as the last accepted one: dropped.
    gaps
        Gaps too long to be filled, after which a new segment began.
    irregular
        Rows between two ticks of the clock; accepted.
    unknown
        Values of channels that the series does not have; dropped.
    """

    accepted: int = 0
    late: int = 0
    duplicates: int = 0
    gaps: int = 0
    irregular: int = 0
    unknown: int = 0


class Arrivals:
    """The clock of one series, and the order of its rows.

    Parameters
    ----------
    fill_limit
        Missing rows in a gap that is filled.
    name
        What messages call the series.
    """

    def __init__(self, fill_limit: int, name: str = NAMELESS) -> None:
        self.counts = Counts()
        self._fill_limit = fill_limit
        self._name = name
        self._unit: Unit | None = None
        self._last = -np.inf
        self._steps: list[float] = []
        self._seen = 0  # steps so far
        self._interval: float | None = None
        self._warned = False

    @property
    def seconds(self) -> float | None:
        """From row to row, where rows have dates."""
        return self._interval if self._unit == "seconds" else None

    def read(self, times: Sequence[Any] | NDArray[Any] | None, count: int) -> Times | None:
        """The checked times of new rows, (count,); no row is accepted yet."""
        if times is None:
            found = None
        elif len(times) != count:
            raise InputError.of(
                "times", f"must be one a row, for {count} rows", f"got {len(times)}"
            )
        else:
            found = read_times(times)
        if self.counts.accepted and count and (None if found is None else found.unit) != self._unit:
            kinds = {None: "none", "own": "numbers", "seconds": "dates"}
            raise InputError.of(
                "times",
                "must be of one kind for all rows"
                + ("" if self._name == NAMELESS else f" of {self._name}"),
                f"got {kinds[None if found is None else found.unit]} after {kinds[self._unit]}",
            )
        return found

    def accept(self, times: Times | None, count: int) -> AcceptedRows:
        """Accept rows in time order, and drop the others."""
        if times is None:
            self.counts.accepted += count
            return AcceptedRows(
                np.arange(count), np.zeros(count, dtype=bool), np.zeros(count, np.int64)
            )
        self._unit = times.unit
        order = find_order(times.ticks, self._last)
        places, duplicates = np.flatnonzero(order.accepted), int(order.duplicate.sum())
        self.counts.accepted += len(places)
        self.counts.duplicates += duplicates
        self.counts.late += count - len(places) - duplicates
        if len(places):
            self._last = float(times.ticks[places[-1]])
        skipped = self._breaks(times.ticks[places] - order.before[places])
        return AcceptedRows(places, skipped > 0, skipped)

    def _breaks(self, steps: NDArray[np.float64]) -> NDArray[np.int64]:
        """Rows missing in steps too long to be bridged, else 0; the interval follows the steps."""
        skipped = np.zeros(len(steps), dtype=np.int64)
        # before the very first row there is no step
        done = int(len(steps) > 0 and steps[0] == np.inf)
        while done < len(steps):
            wanted = _until_due(self._seen)
            part = slice(done, min(len(steps), done + wanted))
            skipped[part] = self._compare(steps[part])
            self._learn(steps[part], is_due=part.stop - done == wanted)
            done = part.stop
        return skipped

    def _compare(self, steps: NDArray[np.float64]) -> NDArray[np.int64]:
        interval = self._interval
        if interval is None:
            return np.zeros(len(steps), dtype=np.int64)
        broken, irregular, ticks = compare_steps(steps, interval, self._fill_limit)
        self.counts.gaps += int(broken.sum())
        self.counts.irregular += int(irregular.sum())
        return np.where(broken, np.maximum(ticks - 1, 1), 0).astype(np.int64)

    def _learn(self, steps: NDArray[np.float64], *, is_due: bool) -> None:
        self._steps = [*self._steps, *steps.tolist()][-STEPS_KEPT:]
        self._seen += len(steps)
        if is_due:
            self._interval = median_step(np.array(self._steps))
            self._warn()

    def _warn(self) -> None:
        irregular = self.counts.irregular
        if self._seen >= STEPS_KEPT and irregular > IRREGULAR * self._seen and not self._warned:
            self._warned = True
            log.warning(
                "%s: %d of %d rows came between two ticks of the clock; they are accepted as "
                "if the clock were regular",
                *(self._name, irregular, self._seen),
            )

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "counts": asdict(self.counts),
            "unit": self._unit,
            "last": None if self._last == -np.inf else self._last,
            "steps": self._steps,
            "seen": self._seen,
            "interval": self._interval,
            "warned": self._warned,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """The inverse of ``state``; reads what versions before 0.3 saved, too."""
        counts = dict(saved["counts"])
        counts.setdefault("accepted", counts.pop("taken", 0))
        self.counts = Counts(**counts)
        self._unit = saved["unit"]
        self._last = -np.inf if saved["last"] is None else float(saved["last"])
        self._steps = [float(step) for step in saved["steps"]]
        self._seen = int(saved["seen"])
        self._interval = saved["interval"]
        self._warned = bool(saved["warned"])


def _until_due(seen: int) -> int:
    """Steps until the interval is estimated again, after ``seen`` of them.

    At counts that do not depend on how rows are grouped, and rarely once it is known well.
    """
    if seen < 10:
        return 1
    every = 10 if seen < STEPS_KEPT else STEPS_KEPT
    return every - seen % every
