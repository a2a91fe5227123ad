"""A lake that is as awkward as they come, and models that were fitted on some of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from subadjacent.data.files import Columns

COLUMNS = Columns(time="at", entity="pump")
DAYS = 3
ROWS = 1_300
"""Rows of an entity on a day: more than are assessed at a time."""


def rows_of(seed: int, rows: int) -> pl.DataFrame:
    """Two channels that swing together, one reading a minute."""
    rng = np.random.default_rng(seed)
    swing = np.sin(np.arange(rows) / 9.0 + seed)
    noise = 0.1 * rng.normal(size=(rows, 2))
    start = np.datetime64("2026-01-01T00:00", "us")
    times = start + np.arange(rows) * np.timedelta64(1, "m")
    return pl.DataFrame({"at": times, "a": swing + noise[:, 0], "b": 2 * swing + noise[:, 1]})


def awkward_lake(folder: Path) -> list[Path]:
    """A file a day of four pumps, mixed; then one file of a fifth pump alone.

    "long" is there on all days, "short" has a few rows, "gaps" lacks rows and values, "new" is
    unknown to the model.
    """
    pumps = {name: rows_of(seed, DAYS * ROWS) for seed, name in enumerate(("long", "gaps", "new"))}
    gaps = pumps["gaps"].with_row_index("row")
    hole = pl.col("row").is_between(700, 760)
    pumps["gaps"] = (
        gaps.filter(~pl.col("row").is_between(1_900, 2_100))
        .with_columns(pl.when(hole).then(None).otherwise(pl.col("a")).alias("a"))
        .with_columns(pl.when(pl.col("row") % 97 == 0).then(float("nan")).otherwise("b").alias("b"))
        .drop("row")
    )
    pumps["short"] = rows_of(7, DAYS * ROWS)[: ROWS + 40]
    pumps["long"] = pumps["long"].with_columns(
        pl.when(pl.int_range(pl.len()).is_between(2_000, 2_020)).then(9.0).otherwise("a").alias("a")
    )
    mixed = pl.concat(
        [frame.with_columns(pl.lit(name).alias("pump")) for name, frame in pumps.items()]
    ).sort("at", maintain_order=True)
    files = []
    start = pl.datetime(2026, 1, 1, time_unit="us")
    for day in range(DAYS):
        after = pl.col("at") >= start + pl.duration(minutes=day * ROWS)
        before = pl.col("at") < start + pl.duration(minutes=(day + 1) * ROWS)
        files.append(folder / f"day={day}" / "rows.parquet")
        _write(mixed.filter(after & before), files[-1])
    files.append(folder / "single" / "alone.parquet")
    _write(rows_of(11, 900).with_columns(pl.lit("alone").alias("pump")), files[-1])
    return files


def training_rows() -> pl.DataFrame:
    """What models are fitted on: all pumps but one, in other weeks."""
    names = ("long", "gaps", "short", "alone")
    frames = [
        rows_of(20 + seed, 600).with_columns(pl.lit(name).alias("pump"))
        for seed, name in enumerate(names)
    ]
    return pl.concat(frames).rename({"at": "timestamp", "pump": "item_id"})


def _write(frame: pl.DataFrame, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.select("at", "pump", "a", "b").write_parquet(path)
