"""Two pictures of a case: the whole series, and the worst alarm from close by."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from examples.gallery.run import Outcome, marks
from examples.gallery.small_png import small_png

from subadjacent.decision.alarms import Alarm
from subadjacent.report.figures import figure_series

# of an image 9 inches wide: sharp on a page, and below 60 kB as a rule
RESOLUTION = 90
# rows around an alarm, as a share of its length, and at least
AROUND, LEAST = 1.0, 60


def draw_whole(outcome: Outcome, path: Path) -> None:
    """The channels, their expected range, alarms, what was planted, and the severity."""
    _save(outcome, path, rows=None, channels=outcome.case.channels)


def draw_close(outcome: Outcome, path: Path) -> None:
    """The first channels of the worst alarm and the rows around it; what was missed without one."""
    alarm = worst(outcome)
    if alarm is None:
        missed = outcome.drawn.planted[0]
        first, last, named = missed.first, missed.last, list(outcome.case.channels[:2])
    else:
        first, last = alarm.first, alarm.last
        named = [cause.channel for cause in alarm.causes[:2]]
    around = max(int(AROUND * (last - first + 1)), LEAST)
    _save(outcome, path, rows=(first - around, last + around), channels=named)


def worst(outcome: Outcome) -> Alarm | None:
    """The most severe alarm of the series in the pictures; None without alarms."""
    alarms = [one for one in outcome.assessment.alarms() if one.entity == outcome.case.entity]
    return max(alarms, key=lambda alarm: alarm.severity, default=None)


def _save(
    outcome: Outcome, path: Path, *, rows: tuple[int, int] | None, channels: Sequence[str]
) -> None:
    entity = outcome.case.entity
    planted = marks(outcome, entity)
    figure: Any = figure_series(
        outcome.assessment,
        outcome.number(entity),
        channels=channels,
        labels=planted,
        fitted=np.arange(len(planted)) < outcome.fitted_rows(entity) if rows is None else None,
        rows=rows,
        traces=False,
    )
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=RESOLUTION)
    path.write_bytes(small_png(drawn.getvalue()))
