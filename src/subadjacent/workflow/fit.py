"""Choose the rows of files to fit on, and fit a detector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

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

    ``until`` is a time such as 2026-01-31T12:00, or one written as those of the files, or a row
    number where the rows have no times.
    """

    fraction: float = 0.5
    until: str | None = None

    def of(
        self, frame: pl.DataFrame, as_written: Callable[[str], Any] = lambda _: None
    ) -> pl.Series:
        """A mask of the rows of a frame to fit on; refuses an empty selection.

        ``as_written`` reads a time that is written as those of the files (``Rows.read_time``).
        """
        training = self.chosen(frame, as_written)
        if not training.any():
            raise InputError.of(
                "until", "must leave rows to fit on", f"none come before {self.until}"
            )
        return training

    def chosen(
        self, frame: pl.DataFrame, as_written: Callable[[str], Any] = lambda _: None
    ) -> pl.Series:
        """A mask of the rows of a frame to fit on; may be all False."""
        import polars as pl

        row, length = pl.int_range(pl.len()), pl.len()
        if ENTITY in frame.columns:
            row, length = row.over(ENTITY), length.over(ENTITY)
        chosen = row < (length * self.fraction).ceil()
        if self.until is not None:
            chosen = _before(frame, self.until, row, as_written)
        return frame.select(chosen.alias("training"))["training"]


def _before(
    frame: pl.DataFrame, until: str, row: pl.Expr, as_written: Callable[[str], Any]
) -> pl.Expr:
    import polars as pl

    if TIME not in frame.columns:
        return row < _number(until, "must be a row number, for the data has no times")
    if frame.schema[TIME].is_numeric():
        return pl.col(TIME) < _number(until, f"must be a number like those of {TIME}")
    zone = getattr(frame.schema[TIME], "time_zone", None)
    moment = as_written(until) or _from_iso(until)
    if zone is None:
        if moment.tzinfo is not None:
            rule = "must have no time zone, as the data's times have none"
            raise InputError.of("until", rule, f"got {until!r}")
        return pl.col(TIME) < moment
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        rule = "must lie in the years 1 to 9999, in UTC too"
        raise InputError.of("until", rule, f"got {until!r}") from error
    return pl.col(TIME) < pl.lit(moment).dt.convert_time_zone(zone)


def _from_iso(until: str) -> datetime:
    try:
        return datetime.fromisoformat(until)
    except ValueError as error:
        rule = "must be a time such as 2026-01-31T12:00"
        raise InputError.of("until", rule, f"got {until!r}") from error


def _number(until: str, rule: str) -> float:
    try:
        return float(until)
    except ValueError as error:
        raise InputError.of("until", rule, f"got {until!r}") from error


def rows_to_fit_on(frame: pl.DataFrame, training: pl.Series) -> pl.DataFrame:
    """The rows of the mask ``training``; not copied if they are the first ones."""
    count = int(training.sum())
    return frame.head(count) if training[:count].all() else frame.filter(training)


def fit(detector: BaseDetector, rows: Rows, training: TrainingRows, watch: Watch = ignore) -> int:
    """Fit a detector on the training rows of files; return their number."""
    frame = rows.whole(labels="skip").frame
    frame = rows_to_fit_on(frame, training.of(frame, rows.read_time))
    detector.fit(frame, watch=watch)
    return len(frame)
