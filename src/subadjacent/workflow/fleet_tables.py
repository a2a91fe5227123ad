"""The tables of a fleet, from the parts of all its packs: alarms, entities, failures.

P-values are computed here, as they need all entities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from subadjacent.decision.discoveries import Worst, benjamini_hochberg, p_values_of
from subadjacent.decision.kinds import MISSING, STUCK
from subadjacent.workflow.fleet_pack import WORST, PackTask
from subadjacent.workflow.writing import as_csv, whole_file

if TYPE_CHECKING:
    import polars as pl

P_VALUE, KEPT = "p_value", "kept"
SILENT = (MISSING, STUCK)
"""What a channel did that is an alarm whatever its rows score."""


class Gathered(NamedTuple):
    """The files written, their number of alarms and, with ``fdr``, of entities that stand out."""

    files: tuple[Path, ...]
    alarms: int
    kept: int | None


def gather(tasks: Sequence[PackTask], folder: Path, fdr: float | None) -> Gathered:
    """Write one table of alarms, one of entities and one of failures.

    Where a rate of false discoveries is given, alarms are those of entities that are kept, and
    those of silent channels, which are certain.
    """
    import polars as pl

    files = tuple(folder / name for name in ("alarms.csv", "entities.csv", "failures.csv"))
    entities, alarms = ([task.part(name) for task in tasks] for name in ("entities", "alarms"))
    judged = _judged(entities, fdr)
    kept = None if fdr is None else set(judged.filter(KEPT)["entity"])

    def with_p_values(table: pl.DataFrame) -> pl.DataFrame:
        return table.drop(WORST).join(judged, on="entity", how="left", maintain_order="left")

    def failed(table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("error").is_not_null()).select("entity", "error")

    def of_kept(table: pl.DataFrame) -> pl.DataFrame:
        # without any alarm there is no column of entities
        if kept is None or not len(table):
            return table
        return table.filter(pl.col("entity").is_in(kept) | pl.col("kind").is_in(SILENT))

    count = _join(alarms, files[0], of_kept)
    _join(entities, files[1], with_p_values)
    _join(entities, files[2], failed)
    return Gathered(files, count, None if kept is None else len(kept))


def _judged(files: Sequence[Path], fdr: float | None) -> pl.DataFrame:
    """The p-value of every entity, None if untested; with ``fdr``, whether its alarms are kept."""
    import polars as pl

    table = pl.concat([pl.read_parquet(file, columns=["entity", *WORST]) for file in files])
    worst = [
        Worst(-np.inf if score is None else score, blocks, np.array(normal, dtype=np.float64))
        for _, score, blocks, normal in table.iter_rows()
    ]
    tested = np.array([entity.blocks > 0 for entity in worst], dtype=bool)
    p_values = p_values_of(worst)
    judged = table.select("entity").with_columns(
        pl.Series(P_VALUE, p_values).set(pl.Series(~tested), None)
    )
    if fdr is None:
        return judged
    kept = np.zeros(len(worst), dtype=bool)
    # what was not tested is no discovery, and none of those that could have been
    kept[tested] = benjamini_hochberg(p_values[tested], fdr)
    return judged.with_columns(pl.Series(KEPT, kept))


def _join(
    files: Sequence[Path], target: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> int:
    """Append tables to a CSV file, one in memory at a time; return the row count."""
    import polars as pl

    rows = 0
    with whole_file(target) as unfinished, unfinished.open("w", encoding="utf-8") as lines:
        empty: pl.DataFrame | None = None
        for file in files:
            table = change(pl.read_parquet(file))
            if len(table):
                text = as_csv(table)
                lines.write(text.partition("\n")[2] if rows else text)
                rows += len(table)
            # the table with most columns: one without alarms has no column of entities
            empty = table.clear() if empty is None or table.width > empty.width else empty
        if not rows and empty is not None:
            lines.write(as_csv(empty))
    return rows
