"""Times that must increase from row to row: where they do not, and why that may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from subadjacent.data.files.delimited import Block
from subadjacent.errors import InputError

if TYPE_CHECKING:
    import polars as pl

HOUR = 3600


class TimeOrder:
    """Checks rows as they come, each entity for itself, across parts and files."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._last: dict[Any, pl.Series] = {}

    def check(self, block: Block, times: pl.Series, entities: pl.Series | None) -> None:
        """Refuse a time that is not after the one before it."""
        import polars as pl

        names = pl.Series([None] * len(times), dtype=pl.String) if entities is None else entities
        rows = pl.DataFrame({"row": range(len(times)), "time": times, "entity": names})
        for key, group in rows.group_by("entity", maintain_order=True):
            entity = key[0]
            before = self._last.get(entity)
            here = group["time"]
            earlier = here.shift(1) if before is None else pl.concat([before, here.head(-1)])
            wrong = (here <= earlier).fill_null(False)
            if wrong.any():
                place = int(wrong.arg_max() or 0)
                self._refuse(block, group["row"][place], here[place], earlier[place], entity)
            # as a series: Python's times have no nanoseconds
            self._last[entity] = here.tail(1)

    def _refuse(self, block: Block, row: int, here: Any, before: Any, entity: Any) -> None:
        back = before - here
        seconds = back.total_seconds() if hasattr(back, "total_seconds") else None
        local = seconds is not None and here.tzinfo is None
        if local and seconds is not None and 0 <= seconds <= HOUR and here.hour <= 3:
            way_out = (
                "if clocks were put back there for winter, write times in UTC or with their "
                "offset; else sort the rows by time and drop duplicates"
            )
        elif here == before:
            way_out = "drop duplicates, or name the entity column if rows belong to several"
        else:
            way_out = "sort the rows by time, or name the entity column if rows belong to several"
        of = "" if entity is None else f" of {entity!r}"
        raise InputError(
            f"{block.place(row)}, column {self._column!r}: times{of} must increase from row to "
            f"row; got {here} after {before}: {way_out}"
        )
