"""The tables of a fleet, from the parts of all its packs: alarms, entities, failures.

Only here all entities are known, and so how unlikely each of them is among all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from subadjacent.scoring.discoveries import Worst, benjamini_hochberg, p_values_of
from subadjacent.scoring.kinds import MISSING, STUCK
from subadjacent.workflow.fleet_pack import WORST, PackTask
from subadjacent.workflow.writing import as_csv, whole_file

if TYPE_CHECKING:
    import polars as pl

P_VALUE, KEPT = "p_value", "kept"
SILENT = (MISSING, STUCK)
"""What a channel did that is an alarm whatever its rows score."""


class Gathered(NamedTuple):
    """The files, how many alarms they hold, and how many entities stand out, if that was asked."""

    files: tuple[Path, ...]
    alarms: int
    kept: int | None


def gather(tasks: Sequence[PackTask], folder: Path, fdr: float | None) -> Gathered:
    """Write one table of alarms, one of entities and one of failures.

    Where a rate of false discoveries is given, alarms are those of entities that are kept, and
    those of channels that say nothing, which are no matter of chance.
    """
    import polars as pl

    files = tuple(folder / name for name in ("alarms.csv", "entities.csv", "failures.csv"))
    entities, alarms = ([task.part(name) for task in tasks] for name in ("entities", "alarms"))
    judged = _judged(entities, fdr)
    kept = None if fdr is None else set(judged.filter(KEPT)["entity"])

    def told(part: pl.DataFrame) -> pl.DataFrame:
        return part.drop(WORST).join(judged, on="entity", how="left", maintain_order="left")

    def failed(part: pl.DataFrame) -> pl.DataFrame:
        return part.filter(pl.col("error").is_not_null()).select("entity", "error")

    def of_kept(part: pl.DataFrame) -> pl.DataFrame:
        # without any alarm there is no column of entities
        if kept is None or not len(part):
            return part
        return part.filter(pl.col("entity").is_in(kept) | pl.col("kind").is_in(SILENT))

    count = _join(alarms, files[0], of_kept)
    _join(entities, files[1], told)
    _join(entities, files[2], failed)
    return Gathered(files, count, None if kept is None else len(kept))


def _judged(parts: Sequence[Path], fdr: float | None) -> pl.DataFrame:
    """The p-value of every entity, none where nothing was tested; with a rate, which are kept."""
    import polars as pl

    table = pl.concat([pl.read_parquet(part, columns=["entity", *WORST]) for part in parts])
    found = [
        Worst(-np.inf if score is None else score, blocks, np.array(normal, dtype=np.float64))
        for _, score, blocks, normal in table.iter_rows()
    ]
    tested = np.array([one.blocks > 0 for one in found], dtype=bool)
    p_values = p_values_of(found)
    judged = table.select("entity").with_columns(
        pl.Series(P_VALUE, p_values).set(pl.Series(~tested), None)
    )
    if fdr is None:
        return judged
    kept = np.zeros(len(found), dtype=bool)
    # what was not tested is no discovery, and none of those that could have been
    kept[tested] = benjamini_hochberg(p_values[tested], fdr)
    return judged.with_columns(pl.Series(KEPT, kept))


def _join(
    parts: Sequence[Path], target: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> int:
    """Tables one below the other in a CSV file, one of them in memory at a time; how many rows."""
    import polars as pl

    rows = 0
    with whole_file(target) as unfinished, unfinished.open("w", encoding="utf-8") as lines:
        empty: pl.DataFrame | None = None
        for part in parts:
            table = change(pl.read_parquet(part))
            if len(table):
                text = as_csv(table)
                lines.write(text.partition("\n")[2] if rows else text)
                rows += len(table)
            # the table with most columns: one without alarms has no column of entities
            empty = table.clear() if empty is None or table.width > empty.width else empty
        if not rows and empty is not None:
            lines.write(as_csv(empty))
    return rows
