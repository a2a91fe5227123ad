"""Which rows of files to fit on, and the fit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from subadjacent.data.files import ENTITY, TIME
from subadjacent.errors import InputError
from subadjacent.runtime import Watch, ignore

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows
    from subadjacent.detectors.base import BaseDetector


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Which rows to fit on: those before ``until``, or else the first ``fraction`` of a series.

    ``until`` is a time such as 2026-01-31T12:00, or a row number where the rows have no times.
    """

    fraction: float = 0.5
    until: str | None = None

    def of(self, frame: pl.DataFrame) -> pl.Series:
        """Whether each row of a frame is one to fit on; refuses to choose none."""
        import polars as pl

        row, length = pl.int_range(pl.len()), pl.len()
        if ENTITY in frame.columns:
            row, length = row.over(ENTITY), length.over(ENTITY)
        chosen = row < (length * self.fraction).ceil()
        if self.until is not None:
            chosen = _before(frame, self.until, row)
        training = frame.select(chosen.alias("training"))["training"]
        if not training.any():
            raise InputError.of(
                "until", "must leave rows to fit on", f"none come before {self.until}"
            )
        return training


def _before(frame: pl.DataFrame, until: str, row: pl.Expr) -> pl.Expr:
    import polars as pl

    if TIME not in frame.columns:
        return row < _number(until, "must be a row number, for the data has no times")
    if frame.schema[TIME].is_numeric():
        return pl.col(TIME) < _number(until, f"must be a number like those of {TIME}")
    try:
        moment = datetime.fromisoformat(until)
    except ValueError as error:
        rule = "must be a time such as 2026-01-31T12:00"
        raise InputError.of("until", rule, f"got {until!r}") from error
    zone = getattr(frame.schema[TIME], "time_zone", None)
    literal = pl.lit(moment)
    if zone is not None and moment.tzinfo is None:
        literal = literal.dt.replace_time_zone(zone)
    elif zone is not None:
        literal = literal.dt.convert_time_zone(zone)
    elif moment.tzinfo is not None:
        rule = "must have no time zone, as the data's times have none"
        raise InputError.of("until", rule, f"got {until!r}")
    return pl.col(TIME) < literal


def _number(until: str, rule: str) -> float:
    try:
        return float(until)
    except ValueError as error:
        raise InputError.of("until", rule, f"got {until!r}") from error


def rows_to_fit_on(frame: pl.DataFrame, training: pl.Series) -> pl.DataFrame:
    """Those that ``TrainingRows.of`` chose; not copied where they are the first ones."""
    count = int(training.sum())
    return frame.head(count) if training[:count].all() else frame.filter(training)


def fit(detector: BaseDetector, rows: Rows, training: TrainingRows, watch: Watch = ignore) -> int:
    """Fit a detector on some rows of files; how many they were."""
    frame = rows.whole().frame
    frame = rows_to_fit_on(frame, training.of(frame))
    detector.fit(frame, watch=watch)
    return len(frame)
