"""From files to the rows that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from subadjacent.data.files import ENTITY, TIME
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def first_part(frame: pl.DataFrame, *, fraction: float, until: str | None) -> pl.DataFrame:
    """The rows to fit on: those before ``until``, else a share of each entity's first rows."""
    import polars as pl

    row = pl.int_range(pl.len())
    if ENTITY in frame.columns:
        row = row.over(ENTITY)
    if until is not None:
        chosen = frame.filter(_before(frame, until, row))
    elif not 0 < fraction <= 1:
        raise InputError(f"--train-fraction must lie above 0 and be at most 1; got {fraction}")
    else:
        length = pl.len().over(ENTITY) if ENTITY in frame.columns else pl.len()
        chosen = frame.filter(row < (length * fraction).ceil())
    if not len(chosen):
        raise InputError(f"--train-until must leave rows to fit on; none come before {until}")
    return chosen


def _before(frame: pl.DataFrame, until: str, row: pl.Expr) -> pl.Expr:
    import polars as pl

    if TIME not in frame.columns:
        return row < _number(until, "a row number, for the data has no times")
    if frame.schema[TIME].is_numeric():
        return pl.col(TIME) < _number(until, f"a number like those of {TIME}")
    try:
        moment = datetime.fromisoformat(until)
    except ValueError as error:
        raise InputError(
            f"--train-until must be a time such as 2026-01-31T12:00; got {until!r}"
        ) from error
    zone = getattr(frame.schema[TIME], "time_zone", None)
    literal = pl.lit(moment)
    if zone is not None and moment.tzinfo is None:
        literal = literal.dt.replace_time_zone(zone)
    elif zone is not None:
        literal = literal.dt.convert_time_zone(zone)
    elif moment.tzinfo is not None:
        raise InputError(
            f"--train-until must have no time zone, as the data's times have none; got {until!r}"
        )
    return pl.col(TIME) < literal


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"--train-until must be {what}; got {text!r}") from error


def scores_table(
    frame: pl.DataFrame, scores: Any, threshold: float, normalized: Any, entity: str | None
) -> pl.DataFrame:
    """One row a row of the data: time, entity, score, normalised score, anomalous or not."""
    import numpy as np
    import polars as pl

    keys: Sequence[str] = [name for name in (TIME, ENTITY) if name in frame.columns]
    scores = np.asarray(scores)
    table = frame.select(keys).with_columns(
        score=pl.Series(scores),
        normalized_score=pl.Series(np.asarray(normalized)),
        anomalous=pl.Series((scores > threshold).astype(np.int8)),
    )
    return table.rename({ENTITY: entity}) if entity and ENTITY in keys else table
