"""What a detector finds in some rows, gone through once for all that is shown of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from subadjacent.data.frames import Table
from subadjacent.data.inputs import read
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.neural import NeuralDetector, has_network
from subadjacent.scoring.alarms import Alarm
from subadjacent.scoring.point import Trace

Watch = Callable[[int, int, str], None]
"""Called as work goes on, with how much is done, how much there is in all, and what of."""


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Some rows, and all that a detector says of them.

    Where it has no network, traces hold no contribution and no score but the decision.
    """

    table: Table
    traces: list[Trace]
    alarms: list[Alarm]

    @property
    def scores(self) -> Any:
        """One score a row, as ``decision_function`` gives them."""
        return self.table.restore([trace.decision for trace in self.traces], "score")


def find(detector: BaseDetector, X: Any, watch: Watch | None = None) -> Findings:
    """Score ``X``; ``watch`` is told how many rows went through the network, and of how many."""
    table = read(X, fill_limit=detector.fill_limit)
    if not has_network(detector):
        return _find_without_network(detector, X, table, watch)
    rows = sum(map(len, table.series))
    fresh = detector.scoring_stride or detector.window_
    # scored and reconstructed for the trace, scored for the alarms
    count = _Count(fresh, 3 * rows, watch)
    with count.of(detector):
        traces = detector.trace(X)
        # and the windows with alarms in them are reconstructed once more
        above = (np.flatnonzero(one.decision > detector.threshold_) // fresh for one in traces)
        count.done, count.total = (
            2 * rows,
            3 * rows + sum(len(np.unique(one)) for one in above) * fresh,
        )
        alarms = detector.alarms(X)
    count.done = count.total
    count.tell()
    return Findings(table, traces, alarms)


def _find_without_network(
    detector: BaseDetector, X: Any, table: Table, watch: Watch | None
) -> Findings:
    # scored, explained, and both again for the alarms
    rows = sum(map(len, table.series))
    done = _Count(rows, 3 * rows, watch)
    # reads X as scoring does, so that channels are checked
    series = detector._read(X).series
    scores = detector._score(series)
    done.add()
    explained = detector._explain(series, [np.ones(len(one), dtype=bool) for one in series])
    done.add()
    nothing = np.empty(0, dtype=np.float32)
    traces = [
        Trace(one, found.expected, found.scores.mean(axis=1), nothing, nothing, decision)
        for one, found, decision in zip(series, explained, scores, strict=True)
    ]
    alarms = detector.alarms(X)
    done.add()
    return Findings(table, traces, alarms)


class _Count:
    """Rows that went through the network: a window counts for those that it adds."""

    def __init__(self, fresh: int, total: int, watch: Watch | None) -> None:
        self.fresh, self.done, self.total, self.watch = fresh, 0, total, watch

    def tell(self) -> None:
        """Tell whoever watches."""
        if self.watch is not None:
            # the last window of a stretch reaches back: it adds fewer rows than it counts for
            self.watch(min(self.done, self.total), self.total, "rows scored")

    def add(self, windows: int = 1) -> None:
        """Count some windows, and tell."""
        self.done += windows * self.fresh
        self.tell()

    @contextmanager
    def of(self, detector: NeuralDetector) -> Iterator[None]:
        """Count every batch of windows that a detector's network goes through."""

        def add(network: Any, given: tuple[Any, ...], made: Any) -> None:  # noqa: ARG001 — torch's
            self.add(len(given[0]))

        hook = detector.network_.register_forward_hook(add)
        try:
            yield
        finally:
            hook.remove()
