"""From files to the rows that a command works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from subadjacent.data.files import ENTITY, TIME
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Columns
    from subadjacent.detectors.base import BaseDetector


def first_part(frame: pl.DataFrame, *, fraction: float, until: str | None) -> pl.Series:
    """Whether to fit on a row: those before ``until``, or a share of each entity's first ones."""
    import polars as pl

    row = pl.int_range(pl.len())
    if ENTITY in frame.columns:
        row = row.over(ENTITY)
    if until is not None:
        chosen = _before(frame, until, row)
    else:
        length = pl.len().over(ENTITY) if ENTITY in frame.columns else pl.len()
        chosen = row < (length * fraction).ceil()
    fitted = frame.select(chosen.alias("fitted"))["fitted"]
    if not fitted.any():
        raise InputError(f"--train-until must leave rows to fit on; none come before {until}")
    return fitted


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
    keys: pl.DataFrame, scores: Any, detector: BaseDetector, columns: Columns, labels: Any
) -> pl.DataFrame:
    """One row a row of the data: time, entity, score, normalised score, anomalous, label.

    Time, entity and label go by the names that they have in the files.
    """
    import numpy as np
    import polars as pl

    scores = np.asarray(scores)
    found = {
        "score": scores,
        "normalized_score": detector.normalize(scores),
        "anomalous": (scores > detector.threshold_).astype(np.int8),
    }
    own = {TIME: columns.time, ENTITY: columns.entity}
    named = {key: name for key, name in own.items() if name and name not in found}
    kept = keys.select([one for one in (TIME, ENTITY) if one in keys.columns])
    kept = kept.rename({key: name for key, name in named.items() if key in kept.columns})
    if labels is not None:
        taken = (None, *found, *kept.columns)
        found[str("label" if columns.label in taken else columns.label)] = labels
    series = [pl.Series(name, values) for name, values in found.items()]
    # where there is neither time nor entity, the frame of what is kept has no rows either
    return kept.hstack(series) if kept.width else pl.DataFrame(series)


@contextmanager
def errors_about(files: Sequence[str]) -> Iterator[None]:
    """Rephrase library errors for the command line: files and options instead of ``X``."""
    from subadjacent.data.cleaning import RAISE_FILL_LIMIT
    from subadjacent.detectors.base import NAME_ENTITIES

    options = {
        RAISE_FILL_LIMIT: "drop the column, or raise fill_limit in a --config file",
        NAME_ENTITIES: "name their column with --entity",
    }
    try:
        yield
    except InputError as error:
        if not error.argument:
            raise
        # "X", "X['pump']" or "times of X"
        about = error.argument.replace("X", ", ".join(files), 1)
        raise error.rephrase(about, options.get(error.remedy, error.remedy)) from error
